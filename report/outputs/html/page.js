// The page: what is selected, kept in the location's hash, and the views that show it.

const VIEWS = { summary: "overview", flame: "flame", icicle: "icicle", callers: "callers", table: "table", tree: "tree", source: "source" };
const FILTERS = ["event", "process", "thread", "kind", "image"];
const SELECTORS = { event: "-e", process: "-p", thread: "--tid", image: "-d" };
const KEYS = [["1 - 7", "the views"], ["[ ]", "analysis before, next"], ["/", "search"], ["Esc", "clear the search, the zoom, the file, then the range"], ["arrows, Enter, Backspace", "in a graph or tree: walk, zoom, back"],
	["arrows, Shift", "on the timeline: move the range, its end"], ["d", "light or dark"], ["f", "copy folded stacks"], ["c", "copy the command line"], ["?", "this text"]];
const byId = (id) => document.getElementById(id);
const page = {}, dark = matchMedia("(prefers-color-scheme: dark)"), toggleTheme = () => setTheme(document.documentElement.dataset.theme !== "dark");

window.mtreport = page; // for tests and the curious

// ---- What is selected, and the hash ----

// The analysis that was named, else who holds memory; of page faults their event.
function startState() {
	const { shown, summary } = page.facts, has = (name) => page.tables.some((table) => table.name === name);
	const table = shown !== "samples" && has(shown) ? shown : shown === "samples" && ["resident", "growth"].find(has) || "samples";
	const faults = shown === "faults" ? page.tables[0].labels("event").find((event) => /faults/.test(event)) : "";
	return { view: summary && shown === "samples" ? "summary" : "flame", table, value: "", search: "", file: "", range: null, zoom: [], filters: faults ? { event: faults } : {} };
}

function readHash() {
	const words = new URLSearchParams(location.hash.slice(1)), state = startState();
	for (const name of ["view", "table", "value", "search", "file"])
		state[name] = words.get(name) || state[name];
	for (const name of FILTERS)
		state.filters[name] = words.get(name) || (location.hash.length > 1 ? "" : state.filters[name] || "");
	const range = (words.get("range") || "").match(/^(\d+)-(\d+)$/);
	state.range = range ? [Number(range[1]), Number(range[2])] : null;
	state.zoom = words.has("zoom") ? words.get("zoom").split("\n") : [];
	state.view = VIEWS[state.view] ? state.view : "flame";
	return state;
}

function hashOf(state) {
	const words = new URLSearchParams(), { filters, range, zoom } = state;
	for (const [name, value] of Object.entries({ view: state.view, table: state.table, value: state.value, search: state.search, file: state.file, ...filters, range: range && range.join("-"), zoom: zoom.join("\n") })) {
		if (value)
			words.set(name, value);
	}
	return `#${words}`;
}

function change(what) {
	Object.assign(page.state, what);
	history.replaceState(null, "", hashOf(page.state));
	show();
}

// ---- Words to copy ----

// A word for a shell.
function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function bounds() {
	const { range } = page.state, { interval } = page.table;
	const text = (bucket) => (bucket * interval).toFixed(9).replace(/\.?0+$/, "");
	return range && interval ? `${text(range[0])},${text(range[1] + 1)}` : "";
}

function command(output) {
	const { filters } = page.state, words = ["mtreport", `--${page.table.name}`, ...output, ...page.facts.words];
	if (bounds())
		words.push("--time", bounds());
	for (const [name, option] of Object.entries(SELECTORS)) {
		if (filters[name])
			words.push(option, name === "thread" ? filters[name].split(" ")[0] : filters[name]);
	}
	return words.map(quoted).join(" ");
}

// The lines of --folded: thread name and path, semicolons as colons.
function folded() {
	const { stacks, table, state } = page, lines = new Map(), clean = (text) => text.replace(/;/g, ":");
	const { of } = stacks.merged, value = table.compared ? table.values[1] : page.value, events = table.keys.event ? new Set(table.keys.event).size : 1;
	table.each(stacks, state.filters, state.range, (row) => {
		const set = table.set[row], head = [events > 1 ? clean(table.keys.event[set]) : null, table.keys.comm ? clean(table.keys.comm[set]).replace(/ /g, "_") : null].filter((word) => word !== null).join(";");
		const key = `${of[table.node[row]]}\n${head}`;
		lines.set(key, (lines.get(key) || 0) + value.of[row]);
	});
	return Array.from(lines, ([key, sum]) => {
		const at = key.indexOf("\n"), path = stacks.path(Number(key.slice(0, at))).map(clean);
		return sum >= 0.5 ? `${[key.slice(at + 1), ...path].filter((word) => word).join(";")} ${Math.round(sum)}\n` : "";
	}).filter((line) => line).sort().join("");
}

async function copy(text, what) {
	page.copied = text;
	byId("details").textContent = await navigator.clipboard.writeText(text).then(() => `copied: ${what}`, (error) => `not copied (${error.message}): ${what}`);
}

// ---- Showing ----

function fillSelect(id, labels, chosen, all) {
	const select = byId(id);
	select.hidden = labels.length < (all ? 2 : 1);
	select.replaceChildren(...(all ? [element("option", { value: "", textContent: all })] : []), ...labels.map((label) => element("option", { value: label, textContent: label.length > 60 ? `${label.slice(0, 58)}..` : label })));
	select.value = chosen;
	if (select.value !== chosen)
		select.value = "";
}

function fillBar() {
	const { state, table, stacks } = page;
	fillSelect("table", page.tables.map((each) => each.name), table.name);
	fillSelect("value", table.compared ? ["now, against the base"] : table.values.map((value) => value.name), table.compared ? "now, against the base" : page.value.name);
	for (const name of ["event", "process", "thread", "kind"])
		fillSelect(name, table.labels(name).sort(), state.filters[name] || "", `every ${name}`);
	fillSelect("image", page.images || (page.images = stacks.images().sort()), state.filters.image || "", "every image");
	byId("search").value = state.search;
	for (const tab of byId("tabs").children)
		tab.setAttribute("aria-selected", String(tab.dataset.view === state.view));
}

function matcher(words) {
	try {
		const pattern = new RegExp(words);
		return (text) => pattern.test(text);
	} catch {
		return (text) => text.includes(words);
	}
}

// What is seen, what is left out, and what makes it uncertain.
function status() {
	const { sums, table, value } = page, unit = value.unit || value.name, whole = page.state.range || FILTERS.some((name) => page.state.filters[name]) ? null : value;
	const parts = [`${figure(sums.sum, value.unit)}${value.unit === "B" ? "" : ` ${unit}`} selected`];
	if (whole && (value.low !== value.sum || value.high !== value.sum))
		parts[0] += ` (${figure(value.low, value.unit)} to ${figure(value.high, value.unit)}: records were lost)`;
	if (table.compared)
		parts.push(`the base had ${figure(sums.baseSum, value.unit)}${Math.abs(table.scale - 1) < 0.005 ? "" : `, multiplied by ${table.scale.toPrecision(3)} (--per none: as it is)`}; red is more than there, blue less`);
	if (sums.below < 0)
		parts.push(`${figure(-sums.below, value.unit)} of shrinking has no width`);
	if (table.limits)
		parts.push(table.limits);
	if (!table.interval)
		parts.push(table.compared ? "a comparison is of the whole times" : "of the whole recording: a range of time does not select");
	return parts.join("; ");
}

function bars(table, value) {
	const sums = new Float64Array(table.buckets);
	table.each(page.stacks, page.state.filters, null, (row) => sums[table.at[row]] += value.of[row]);
	return table.interval ? sums : null;
}

function select() {
	const { state } = page;
	page.table = page.tables.find((table) => table.name === state.table) || page.tables[0];
	page.value = page.table.compared ? page.table.values[1] : page.table.value(state.value);
	if (state.range && page.table.interval)
		state.range = state.range.map((bucket) => Math.min(bucket, page.table.buckets - 1));
	page.timed = [page.table, ...["growth", "blocks"].map((name) => page.tables.find((each) => each.name === name)), ...page.tables].find((table) => table && table.interval) || page.table;
	page.sums = new Sums(page.stacks, page.table, page.value, state.filters, state.range);
}

function describe(layout, node) {
	const { stacks, sums, value } = page, total = layout.total[node], name = node ? stacks.texts[layout.name[node]] : "all";
	const unit = value.unit === "B" ? "" : ` ${value.unit || value.name}`, kind = layout.kinds[node];
	let text = `${name} (${figure(total, value.unit)}${unit}, ${percent(total, sums.total[0])}`;
	if (value.unit === "B" && Math.abs(total) >= 1000)
		text += `, ${count(total)} bytes`;
	if (sums.base && layout.total === sums.total)
		text += `; ${sums.base[node] <= total ? "+" : "-"}${figure(Math.abs(total - sums.base[node]), value.unit)} against the base`;
	for (const [bit, word] of [[INLINED, "inlined"], [KERNEL, "kernel"], [MADE, "JIT"], [GUESSED, "guessed"], [JOINED, "joined from other stacks"]])
		text += kind & bit ? `; ${word}` : "";
	return `${text})`;
}

function addGraph(box, layout, options) {
	const graph = new Graph(box, layout, {
		rootsBelow: page.state.view === "flame",
		marks: page.found && page.found.names,
		onPoint: (node) => byId("details").textContent = node === undefined ? "" : describe(layout, node),
		onZoom: () => {},
		...options,
	});
	page.graphs.push(graph);
	return graph;
}

function graphsView(box) {
	const { stacks, sums, state } = page, reverse = state.view === "callers";
	const layout = reverse ? Layout.fromLeaves(stacks, sums.self, state.zoom) : Layout.fromRoot(stacks, sums.total);
	const onZoom = (names) => {
		page.state.zoom = names;
		history.replaceState(null, "", hashOf(state));
		byId("reset").hidden = !names.length;
		if (reverse)
			show();
	};
	const whole = Math.max(sums.total[0], 1e-9), grown = sums.base && !reverse ? (node) => (sums.total[node] - sums.base[node]) / whole : undefined;
	const graph = addGraph(box, layout, { onZoom, change: grown });
	const reset = element("button", { id: "reset", textContent: "reset zoom", hidden: !state.zoom.length });
	reset.addEventListener("click", () => change({ zoom: [] }));
	box.prepend(reset);
	if (state.zoom.length)
		graph.show(state.zoom);
	if (sums.base && sums.gone[0] > 0 && !reverse) {
		box.append(element("p", { className: "note", textContent: `gone: ${figure(sums.gone[0], page.value.unit)} of the base on paths that have nothing any more` }));
		addGraph(box, Layout.fromRoot(stacks, sums.gone), { change: () => -0.25 });
	}
}

// What a row of the first screen is about, where a table has it: the frame that it names, else the kind of memory, else the process.
function follow({ pid, process, node, name, table }) {
	const { stacks } = page, { of, parent, name: names } = stacks.merged, kind = (name || "").replace(/[[\]]/g, "");
	let at = of[node || 0];
	for (let up = at; up && at === of[node]; up = parent[up])
		at = stacks.texts[names[up]] === name ? up : at;
	const has = (each) => at && new Sums(stacks, each, each.values[0], {}, null).total[at] > 0, all = [table, "blocks", "resident", "growth", "outstanding", "samples"].map((wanted) => page.tables.find((each) => each.name === wanted)).filter((each) => each);
	const shown = all.find(has), chosen = shown || all[0], labels = chosen.labels("process").filter((label) => pid ? label.split(" ")[0] === String(pid) : label.endsWith(` ${process}`));
	const filters = { process: labels.length === 1 ? labels[0] : "", kind: !shown && chosen.labels("kind").includes(kind) ? kind : "" };
	location.hash = hashOf({ view: "flame", table: chosen.name, filters, zoom: shown ? stacks.path(at) : [] });
}

function showView() {
	const box = byId("view"), { stacks, sums, value, state } = page, choose = (name) => change({ search: `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`, view: "flame", zoom: [] });
	const made = {
		summary: () => box.append(summaryView(page.facts, follow, (pid) => (page.timeline.grown.find(({ process }) => process.startsWith(`${pid} `)) || { color: "" }).color)), table: () => box.append(functionsView(stacks, sums, value.unit, page.sorts.table, choose)),
		tree: () => box.append(treeView(stacks, sums, value.unit)), source: () => box.append(sourceView(stacks, page.sources, sums, { unit: value.unit, state: page.sorts.source, file: state.file, open: (file) => change({ file }), choose })),
	};
	page.graphs.forEach((graph) => graph.destroy());
	page.graphs = [];
	box.replaceChildren();
	(made[state.view] || (() => graphsView(box)))();
}

function show() {
	const { state } = page;
	select();
	page.found = state.search ? page.sums.match(matcher(state.search)) : null;
	byId("matched").textContent = page.found ? `matched: ${percent(page.found.sum, page.sums.total[0])} (${figure(page.found.sum, page.value.unit)})` : "";
	fillBar();
	byId("status").textContent = status();
	const { timed } = page, value = timed === page.table ? page.value : timed.value("");
	byId("range").replaceChildren(bounds() ? element("code", { textContent: `--time ${bounds()}` }) : timed.interval ? `drag over the time to select a range${timed === page.table ? "" : ` of ${timed.name}`}` : "");
	page.timeline.show(timed, value.unit, bars(timed, value), timed === page.table ? state.range : null);
	document.body.dataset.view = state.view;
	byId("legend").replaceChildren(...page.timeline.legend(timed.name).map(({ color, text }) => element("span", { textContent: text, ...(color ? { style: `--line: ${color}` } : {}) })));
	showView();
}

// ---- The whole ----

function listen() {
	byId("table").addEventListener("change", (event) => change({ table: event.target.value, value: "" }));
	byId("value").addEventListener("change", (event) => change({ value: event.target.value }));
	for (const name of FILTERS)
		byId(name).addEventListener("change", (event) => change({ filters: { ...page.state.filters, [name]: event.target.value } }));
	byId("search").addEventListener("input", (event) => change({ search: event.target.value }));
	byId("theme").addEventListener("click", toggleTheme);
	byId("help-button").addEventListener("click", () => byId("help").showModal());
	byId("copy-folded").addEventListener("click", () => copy(folded(), "folded stacks"));
	byId("copy-command").addEventListener("click", () => copy(command(["--folded"]), command(["--folded"])));
	window.addEventListener("hashchange", () => {
		page.state = readHash();
		show();
	});
	document.addEventListener("keydown", pressed);
	dark.addEventListener("change", () => setTheme(dark.matches));
}

// Canvases keep the colours that they were drawn in.
function setTheme(isDark) {
	document.documentElement.dataset.theme = isDark ? "dark" : "light";
	page.timeline.draw();
	page.graphs.forEach((graph) => {
		graph.colors.clear();
		graph.draw();
	});
}

function escape() {
	const { state } = page;
	if (state.search)
		change({ search: "" });
	else if (state.zoom.length)
		change({ zoom: [] });
	else if (state.file && state.view === "source")
		change({ file: "" });
	else
		change({ range: null });
}

function pressed(event) {
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), names = Object.keys(VIEWS), at = page.tables.indexOf(page.table);
	if (event.key === "Escape" && !byId("help").open) {
		event.target.blur();
		escape();
		return;
	}
	if (typing || event.ctrlKey || event.metaKey || event.altKey)
		return;
	const next = (by) => change({ table: page.tables[(at + by + page.tables.length) % page.tables.length].name, value: "" });
	const keys = { "/": () => byId("search").focus(), "[": () => next(-1), "]": () => next(1), d: toggleTheme, f: () => byId("copy-folded").click(), c: () => byId("copy-command").click(), "?": () => byId("help").showModal() };
	const view = names[Number(event.key) - 1], act = view ? () => change({ view }) : keys[event.key];
	if (!act)
		return;
	event.preventDefault();
	act();
}

function build() {
	const { facts } = page, first = facts.recordings[0] || { file: "", seconds: 0 };
	byId("title").textContent = baseName(first.file) + (facts.recordings.length > 1 ? ` and ${facts.recordings.length - 1} more` : "");
	document.title = `mtreport ${byId("title").textContent}`;
	byId("subtitle").textContent = [`${first.seconds.toPrecision(4)} s`, first.host, first.start, first.kernel && `Linux ${first.kernel}`,
		`${count(facts.recordings.reduce((sum, each) => sum + each.lost, 0))} lost`].filter((word) => word).join(", ");
	byId("tabs").append(...Object.entries(VIEWS).map(([view, text], i) => {
		const tab = element("button", { textContent: text, title: String(i + 1) });
		tab.setAttribute("role", "tab");
		tab.dataset.view = view;
		tab.addEventListener("click", () => change({ view }));
		return tab;
	}));
	const close = element("button", { textContent: "close" });
	close.addEventListener("click", () => byId("help").close());
	byId("help").append(element("table", {}, ...KEYS.map(([key, text]) => element("tr", {}, element("td", {}, element("kbd", { textContent: key })), element("td", { textContent: text })))), close);
}

async function main() {
	const { facts, columns } = await readData(byId("data").textContent);
	byId("data").remove();
	Object.assign(page, { facts, graphs: [], sorts: { table: { sort: 2 }, source: { sort: 2 } } });
	page.stacks = new Stacks(facts, columns);
	page.sources = new Sources(facts, columns);
	page.tables = facts.tables.map((table) => new Table(table, page.stacks, columns));
	page.timeline = new Timeline(byId("timeline"), facts, (range) => change(range ? { range, ...(page.timed === page.table ? {} : { table: page.timed.name, value: "" }), view: page.state.view === "summary" ? "flame" : page.state.view } : { range }));
	build();
	listen();
	setTheme(dark.matches);
	page.state = readHash();
	show();
	page.ready = performance.now();
}

main().catch((error) => {
	byId("title").textContent = `this page cannot be shown: ${error.message}`;
	throw error;
});
