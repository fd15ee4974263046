// What is shown as text: functions, the call tree, source lines, why stacks ended. Names are only ever set as text.

const ROWS_SHOWN = 500;

function element(tag, properties = {}, ...children) {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
}

// "1,234,567"; bytes as "11.2 MB".
function count(value) {
	return (Math.round(value * 100) / 100).toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });
}

function figure(value, unit) {
	if (unit !== "B")
		return count(value);
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let at = 0, size = Math.abs(value);
	for (; size >= 1000 && at < units.length - 1; at++)
		size /= 1000;
	return `${value < 0 ? "-" : ""}${at ? size.toFixed(size < 100 ? 1 : 0) : count(size)} ${units[at]}`;
}

function percent(part, whole) {
	return whole ? `${(100 * part / whole).toFixed(1)} %` : "-";
}

// Self and total by any id of a place, where a path counts once however often it has the id.
function sumsBy(stacks, self, idOf, most) {
	const total = Sums.propagate(self, stacks.parent, stacks.count), own = new Float64Array(most), all = new Float64Array(most);
	for (let i = 1; i < stacks.count; i++) {
		const id = idOf(stacks.place[i]);
		if (id < 0)
			continue;
		own[id] += self[i];
		let up = stacks.parent[i];
		while (up && idOf(stacks.place[up]) !== id)
			up = stacks.parent[up];
		if (!up)
			all[id] += total[i];
	}
	return { own, all };
}

// Numbers places by some of their fields: of[place], and a place of each number.
function numberPlaces(stacks, keyOf) {
	const numbers = new Map(), of = new Int32Array(stacks.name.length), one = [];
	for (let place = 0; place < of.length; place++) {
		const key = keyOf(place);
		if (key === null) {
			of[place] = -1;
			continue;
		}
		let number = numbers.get(key);
		if (number === undefined) {
			numbers.set(key, number = one.length);
			one.push(place);
		}
		of[place] = number;
	}
	return { of, one };
}

// What is not shown of a long list.
function more(rows) {
	return rows.length > ROWS_SHOWN ? [element("p", { className: "note", textContent: `and ${count(rows.length - ROWS_SHOWN)} more` })] : [];
}

function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

// A table whose heads sort it. columns: {head, text(row), order(row), number}
function sortedTable(columns, rows, state, choose) {
	const body = element("tbody"), head = element("tr"), table = element("table", {}, element("thead", {}, head), body);
	const fill = () => {
		columns.forEach((each, i) => i === state.sort ? head.children[i].setAttribute("aria-sort", each.number ? "descending" : "ascending") : head.children[i].removeAttribute("aria-sort"));
		const column = columns[state.sort], shown = rows.slice().sort((a, b) => column.number ? column.order(b) - column.order(a) : column.order(a) < column.order(b) ? -1 : 1);
		body.replaceChildren(...shown.slice(0, ROWS_SHOWN).map((row) => {
			const line = element("tr", { tabIndex: 0 }, ...columns.map((each) => element("td", { className: each.number ? "number" : each.code ? "text code" : "text", textContent: each.text(row), title: each.title ? each.title(row) : "" })));
			line.addEventListener("click", () => choose(row));
			line.addEventListener("keydown", (event) => event.key === "Enter" && choose(row));
			return line;
		}));
	};
	columns.forEach((column, i) => {
		const button = element("button", { textContent: column.head });
		button.addEventListener("click", () => {
			state.sort = i;
			fill();
		});
		head.append(element("th", { className: column.number ? "number" : "text" }, button));
	});
	fill();
	return element("div", { className: "list" }, table, ...more(rows));
}

// Of rows {own, all}: self and total, each with its part of the whole.
function figureColumns(unit, whole) {
	const columns = (head, of) => [{ head, number: true, order: of, text: (row) => figure(of(row), unit) }, { head: "%", number: true, order: of, text: (row) => percent(of(row), whole) }];
	return [...columns("self", (row) => row.own), ...columns("total", (row) => row.all)];
}

function functionsView(stacks, sums, unit, state, choose) {
	const numbers = numberPlaces(stacks, (place) => stacks.name[place] * stacks.texts.length + stacks.image[place]);
	const self = clipped(sums.places), { own, all } = sumsBy(stacks, self, (place) => numbers.of[place], numbers.one.length);
	const whole = sums.total[0], rows = numbers.one.map((place, i) => ({ place, own: own[i], all: all[i] })).filter((row) => row.all > 0);
	return sortedTable([
		...figureColumns(unit, whole),
		{ head: "function", order: (row) => stacks.texts[stacks.name[row.place]], text: (row) => stacks.texts[stacks.name[row.place]] },
		{ head: "image", order: (row) => stacks.texts[stacks.image[row.place]], text: (row) => baseName(stacks.texts[stacks.image[row.place]]), title: (row) => stacks.texts[stacks.image[row.place]] },
	], rows, state, (row) => choose(stacks.texts[stacks.name[row.place]]));
}

// Lines with figures: {place, own, all} of each.
function sourceRows(stacks, sums) {
	const lines = numberPlaces(stacks, (place) => stacks.file[place] ? stacks.file[place] * 2 ** 24 + stacks.line[place] : null);
	const { own, all } = sumsBy(stacks, clipped(sums.places), (place) => lines.of[place], lines.one.length);
	return lines.one.map((place, i) => ({ place, own: own[i], all: all[i] })).filter((row) => row.all > 0);
}

// options: {unit, state, file, open(path or ""), choose(name)}: all lines, heaviest first, or those of one file in their order.
function sourceView(stacks, sources, sums, options) {
	const { unit, state } = options, whole = sums.total[0], rows = sourceRows(stacks, sums), path = (row) => stacks.texts[stacks.file[row.place]];
	if (!rows.length)
		return element("p", { className: "note", textContent: "no lines are known: neither the recording nor this machine's files had debug information (mtreport --info tells which files lack it)" });
	const ofFile = options.file ? rows.filter((row) => path(row) === options.file) : [];
	if (ofFile.length)
		return fileView(stacks, sources, ofFile, whole, options);
	const where = (row) => `${path(row)}:${stacks.line[row.place]}`, text = (row) => sources.line(stacks.file[row.place], stacks.line[row.place]);
	const table = sortedTable([
		...figureColumns(unit, whole),
		{ head: "line", order: where, text: (row) => `${baseName(path(row))}:${stacks.line[row.place]}`, title: where },
		...(sources.of.size ? [{ head: "source", order: text, text: (row) => text(row).trim(), code: true }] : []),
		{ head: "function", order: (row) => stacks.texts[stacks.name[row.place]], text: (row) => stacks.texts[stacks.name[row.place]] },
	], rows, state, (row) => sources.of.has(stacks.file[row.place]) ? options.open(path(row), state.line = stacks.line[row.place]) : options.choose(stacks.texts[stacks.name[row.place]]));
	if (sources.left)
		table.append(element("p", { className: "note", textContent: `the text of ${count(sources.left)} more lines had no room in this page: mtreport --annotate shows it` }));
	return table;
}

// One file: its lines with figures and those around them.
function fileView(stacks, sources, rows, whole, { unit, state, file, open, choose }) {
	const id = stacks.file[rows[0].place], byLine = new Map(rows.map((row) => [stacks.line[row.place], row])), texts = sources.of.get(id) || new Map();
	const lines = Array.from(new Set([...texts.keys(), ...byLine.keys()])).sort((a, b) => a - b), most = Math.max(...rows.map((row) => row.all));
	const back = element("button", { id: "back", textContent: "all lines" }), box = element("div", { className: "list file" }), note = sources.changed.has(id) ? " (changed after it was recorded: lines may be others)" : texts.size ? "" : " (its text is not in this page)";
	back.addEventListener("click", () => open(""));
	box.append(element("p", { className: "head" }, back, ` ${file}${note}`),
		element("div", { className: "line head" }, ...["self", "total", "%", "line"].map((text) => element("span", { className: "number", textContent: text }))));
	lines.forEach((line, i) => {
		const row = byLine.get(line), item = element("div", { className: row ? "line hit" : "line" });
		if (i && lines[i - 1] !== line - 1)
			box.append(element("div", { className: "line gap", textContent: "⋯" }));
		item.append(...[row && row.own ? figure(row.own, unit) : "", row ? figure(row.all, unit) : "", row ? percent(row.all, whole) : "", String(line)].map((text) => element("span", { className: "number", textContent: text })),
			element("span", { className: "name", textContent: texts.get(line) || "" }));
		if (row) {
			item.tabIndex = 0;
			item.title = stacks.texts[stacks.name[row.place]];
			item.style.setProperty("--part", `${(100 * row.all / most).toFixed(1)}%`);
			item.addEventListener("click", () => choose(item.title));
			item.addEventListener("keydown", (event) => event.key === "Enter" && choose(item.title));
			if (byLine.has(state.line) ? line === state.line : row.all === most)
				requestAnimationFrame(() => item.scrollIntoView({ block: "center" }));
		}
		box.append(item);
	});
	return box;
}

// Paths below 0 are a remainder, as in graphs.
function clipped(values) {
	return values.map((value) => Math.max(value, 0));
}

// The call tree: a line opens to what it calls, heaviest first.
function treeView(stacks, sums, unit) {
	const { children, name } = stacks.merged, box = element("div", { className: "list tree", role: "tree" }), whole = sums.total[0];
	const below = (node) => Array.from(children.order.subarray(children.first[node], children.first[node + 1]))
		.filter((child) => sums.total[child] > 0).sort((a, b) => sums.total[b] - sums.total[a]);
	const add = (parent, node, depth) => {
		const inner = below(node), group = element("div", { hidden: true, role: "group" });
		const line = element("div", { className: "line", tabIndex: 0, role: "treeitem" },
			element("span", { className: "number", textContent: figure(sums.total[node], unit) }),
			element("span", { className: "number", textContent: percent(sums.total[node], whole) }),
			element("span", { className: "number", textContent: sums.self[node] ? figure(sums.self[node], unit) : "" }),
			element("span", { className: "name", textContent: `${inner.length ? "▸" : " "} ${node ? stacks.texts[name[node]] : "all"}` }));
		line.lastChild.style.paddingLeft = `${Math.min(depth, 60)}em`;
		const open = (wanted) => {
			if (wanted && !group.childElementCount) {
				inner.slice(0, ROWS_SHOWN).forEach((child) => add(group, child, depth + 1));
				group.append(...more(inner));
			}
			group.hidden = !wanted;
			if (inner.length)
				line.lastChild.textContent = (wanted ? "▾" : "▸") + line.lastChild.textContent.slice(1);
		};
		line.addEventListener("click", () => open(group.hidden));
		line.addEventListener("keydown", (event) => {
			const steps = { Enter: () => open(group.hidden), ArrowRight: () => open(true), ArrowLeft: () => open(false), ArrowDown: () => step(line, 1), ArrowUp: () => step(line, -1) };
			if (steps[event.key]) {
				steps[event.key]();
				event.preventDefault();
			}
		});
		parent.append(line, group);
		if (sums.total[node] > whole / (inner.length === 1 ? 20 : 2))
			open(true);
	};
	const step = (line, by) => {
		const lines = Array.from(box.querySelectorAll(".line")).filter((each) => each.offsetParent);
		const next = lines[lines.indexOf(line) + by];
		if (next)
			next.focus();
	};
	box.append(element("div", { className: "line head" }, ...["total", "%", "self", "function"].map((text, i) => element("span", { className: i < 3 ? "number" : "name", textContent: text }))));
	add(box, 0, 0);
	return box;
}

// The first screen: headings stand out, rows lead to what they are about, those of processes with the color of their line.
function summaryView(facts, follow, colorOf) {
	const links = new Map(facts.links.map((link) => [link.line, link]));
	return element("pre", { className: "summary" }, ...facts.summary.split("\n").flatMap((line, i) => {
		const link = links.get(i), [heading] = line.match(/^[A-Z][A-Z ]{3,}\??(?=  |\?|$| \()/) || [""];
		if (!link)
			return [element("b", { textContent: heading }), `${line.slice(heading.length)}\n`];
		const lead = line.match(link.table ? /^ *\S+ \S+  / : /^ */)[0], made = element("a", { href: "#", textContent: line.slice(lead.length), style: link.table ? "" : `--line: ${colorOf(link.pid) || "transparent"}` });
		made.addEventListener("click", (event) => {
			event.preventDefault();
			follow(link);
		});
		return [lead, made, "\n"];
	}));
}
