// What tests/browser/page.sh wrote, as one who looks at it would use it.
"use strict";
const { execFileSync } = require("child_process");
const { check, open, run } = require("./browser.js");

const folder = process.env.TMPDIR;

// The lines that mtreport prints for a command line that the page gave.
const printed = (command) => execFileSync("bash", ["-c", command.replace(/^mtreport/, '"$MT_BUILD/mtreport" -q')], { encoding: "utf8", maxBuffer: 1 << 28 });
const sumOf = (folded) => folded.trim().split("\n").filter((line) => line).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
const sorted = (folded) => folded.trim().split("\n").sort().join("\n");

async function openPage(browser, name, hash = "") {
	const page = await open(browser, `${folder}/${name}.html${hash}`);
	await page.waitForFunction("window.mtreport && window.mtreport.ready");
	return page;
}

const text = (page, id) => page.$eval(`#${id}`, (element) => element.textContent);
const hash = (page) => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).toString());
const sum = (page) => page.evaluate(() => window.mtreport.sums.sum);
const choose = (page, id, value) => page.select(`#${id}`, value);

async function copied(page, key) {
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press(key);
	await page.waitForFunction('document.querySelector("#details").textContent.startsWith("copied")');
	return page.evaluate(() => window.mtreport.copied);
}

// A graph scrolls to its roots when it has its size, which is not before the next frame.
const drawn = (page) => page.waitForFunction("window.mtreport.graphs.length && window.mtreport.graphs[0].sized && window.mtreport.graphs[0].drawn");

// The middle of the drawn frame at the end of a path, on the screen.
const placeOf = (page, names) => page.evaluate((path) => {
	const graph = window.mtreport.graphs[0], { layout } = graph, node = layout.find(path), box = graph.canvas.getBoundingClientRect();
	const from = layout.x[graph.zoomed], scale = box.width / layout.total[graph.zoomed];
	const row = graph.rowOf(path.length) * 18 - graph.box.scrollTop + 9;
	return [box.x + (layout.x[node] + layout.total[node] / 2 - from) * scale, box.y + row];
}, names);

async function checkStart(page) {
	await choose(page, "table", "samples");
	check((await text(page, "title")) === "leak.mtr", "the page names the recording", await text(page, "title"));
	check((await text(page, "view")).includes("WHO GREW"), "it begins with the first screen", await text(page, "view"));
	await checkOverview(page);
	const command = await copied(page, "c");
	check(sorted(await copied(page, "f")) === sorted(printed(command)), "what it copies as folded is what its command prints", command);
}

// Each row leads to its graph, those with a function into the frame that they name.
async function checkRows(page, rows) {
	for (const [i, [row]] of rows.entries()) {
		await page.evaluate((index) => document.querySelectorAll(".summary a")[index].click(), i);
		await page.waitForFunction("window.mtreport.graphs.length");
		const { table, zoom } = await page.evaluate(() => window.mtreport.state), [held, shown] = [row.match(/: ([^ ]+)/), zoom[zoom.length - 1]];
		check(["blocks", "resident", "growth", "outstanding"].includes(table) && (!held || held[1] === shown || held[1] === "[heap]"), `${row.slice(0, 40)} leads to its graph`, [row, table, zoom]);
		await page.goBack();
		await page.waitForFunction("!window.mtreport.graphs.length");
	}
}

// The chart above WHO GREW, whose rows have the colors of its lines; rows of paths and verdicts lead into graphs.
async function checkOverview(page) {
	const height = () => page.$eval("#timeline", (canvas) => canvas.clientHeight), tall = await height();
	const said = await page.evaluate(() => {
		const { timeline } = window.mtreport, texts = [], { fillText } = CanvasRenderingContext2D.prototype;
		CanvasRenderingContext2D.prototype.fillText = (word) => texts.push(word);
		timeline.draw();
		CanvasRenderingContext2D.prototype.fillText = fillText;
		return { texts, most: timeline.most, color: timeline.grown[0].color, pid: timeline.grown[0].process.split(" ")[0] };
	});
	const sizes = said.texts.filter((word) => /^\d+ MB$/.test(word)).map((word) => parseInt(word, 10) * 1e6);
	check(tall >= 220 && sizes.length >= 2 && Math.max(...sizes) <= said.most && Math.max(...sizes) > said.most / 2, "the chart is tall, and has memory in round figures at its side", [tall, said]);
	check(["0 s", "2 s", "14 s"].every((time) => said.texts.includes(time)), "and round times below", said.texts);
	const rows = await page.$$eval(".summary a", (links) => links.map((link) => [link.textContent, link.style.getPropertyValue("--line").trim()]));
	check(rows[0][0].startsWith(`${said.pid} `) && rows[0][1] === said.color, "who grew has the color of the line", [rows, said]);
	await checkRows(page, rows);
	check(rows.some(([row]) => row.includes("remember_session")), "paths and verdicts are among them", rows);
	await page.keyboard.press("2");
	await drawn(page);
	check(await height() < tall, "above a graph the chart is low");
	await page.keyboard.press("1");
}

// Every selector and every view's tab are in one line.
async function checkToolbar(browser, name) {
	const page = await openPage(browser, name, "#view=flame&table=samples");
	for (const table of ["samples", "growth"]) {
		await page.setViewport({ width: 1280, height: 800 });
		await choose(page, "table", table);
		const lines = await page.$$eval("#bar > *, #tabs > *", (tools) => tools.filter((tool) => !tool.hidden).map((tool) => [tool.id, Math.round(tool.getBoundingClientRect().bottom), Math.round(tool.getBoundingClientRect().right)]));
		const bottoms = lines.map(([, bottom]) => bottom), wide = await page.evaluate(() => document.documentElement.scrollWidth);
		check(lines.length >= 10 && Math.max(...bottoms) - Math.min(...bottoms) < 12 && wide <= 1280, `${name}, ${table}: the toolbar fits 1280 pixels`, [wide, lines]);
	}
	await page.close();
}

async function checkZoom(page) {
	await page.keyboard.press("2");
	await drawn(page);
	const path = ["_start", "__libc_start_main"], before = await page.evaluate(() => window.mtreport.graphs[0].drawn);
	await page.mouse.click(...await placeOf(page, path));
	const zoomed = await page.evaluate(() => window.mtreport.state.zoom);
	check(JSON.stringify(zoomed) === JSON.stringify(path), "a click zooms into a frame", zoomed);
	check((await hash(page)).includes("zoom=_start"), "the address keeps the zoom", await hash(page));
	check((await text(page, "details")).startsWith("__libc_start_main ("), "the details below describe the frame under the pointer", await text(page, "details"));
	await page.click("#reset");
	await drawn(page);
	check(await page.evaluate(() => window.mtreport.graphs[0].drawn) === before, "reset zoom leads back");
}

async function checkSearch(page) {
	await page.keyboard.press("/");
	await page.keyboard.type("parse_request");
	const [folded, all] = [printed(`mtreport --samples --folded ${process.env.LEAK}`), await sum(page)];
	const found = sumOf(folded.split("\n").filter((line) => /parse_request/.test(line)).join("\n"));
	const expected = `matched: ${(100 * found / all).toFixed(1)} % (${found.toLocaleString("en-US")})`;
	check(await text(page, "matched") === expected && found > 0, "the sum of a search is that of --folded", [await text(page, "matched"), expected]);
	await page.keyboard.press("Escape");
	check(await text(page, "matched") === "", "Escape clears it");
}

async function checkRange(page) {
	const box = await page.$eval("#timeline", (canvas) => {
		const { x, y, width, height } = canvas.getBoundingClientRect();
		return { x, y, width, height };
	}), all = await sum(page);
	await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 3 });
	await page.mouse.up();
	const span = (await text(page, "range")).replace("--time ", ""), selected = await sum(page);
	const samples = sumOf(printed(`mtreport --samples --folded --time ${span} ${process.env.LEAK}`));
	check(selected === samples && samples > 0 && samples < all, `a range selects what --time ${span} does`, [selected, samples, all]);
	check(sorted(await copied(page, "f")) === sorted(printed(await copied(page, "c"))), "and copies the same paths as its command", await page.evaluate(() => window.mtreport.copied));
	await page.focus("#timeline");
	await page.keyboard.press("ArrowRight");
	check((await text(page, "range")) !== `--time ${span}`, "arrows move it", await text(page, "range"));
	await page.keyboard.press("Escape");
	check(await sum(page) === all, "Escape selects all again");
}

async function checkKeys(page) {
	for (const [key, view] of [["1", "summary"], ["3", "icicle"], ["4", "callers"], ["5", "table"], ["6", "tree"], ["7", "source"], ["2", "flame"]]) {
		await page.keyboard.press(key);
		check((await hash(page)).includes(`view=${view}`) && await page.$eval("#view", (box) => box.childElementCount > 0), `${key} shows ${view}`, await hash(page));
	}
	await page.focus(".graph");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	const zoom = await page.evaluate(() => window.mtreport.state.zoom);
	check(zoom.length === 1, "arrows and Enter zoom", zoom);
	await page.keyboard.press("Escape");
}

async function checkDark(page) {
	const paper = () => page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
	const drawn = () => page.evaluate(() => [window.mtreport.graphs[0], window.mtreport.timeline].map(({ canvas }) => canvas.toDataURL()));
	const light = await paper(), before = await drawn();
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
	let after = await drawn();
	for (let tries = 0; tries < 50 && before.some((picture, i) => picture === after[i]); tries++) {
		await new Promise((resolve) => setTimeout(resolve, 100)); // the page gets the event, then draws with the next frame
		after = await drawn();
	}
	const dark = await paper();
	check(before.every((picture, i) => picture !== after[i]), "graph and timeline are drawn anew where the system turns dark");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("d");
	check(light === "rgb(255, 255, 255)" && dark !== light && await paper() === light, "dark where the system is, and as d says", [light, dark, await paper()]);
	await page.emulateMediaFeatures([]);
}

async function checkLink(browser, page) {
	await page.evaluate(() => document.activeElement.blur());
	await page.evaluate(() => location.hash = "view=icicle&table=samples&search=main&range=100-200");
	await page.waitForFunction("window.mtreport.state.search");
	const before = [await text(page, "matched"), await text(page, "range"), await text(page, "status")], link = await page.evaluate(() => location.hash);
	const other = await openPage(browser, "leak", link);
	const after = [await text(other, "matched"), await text(other, "range"), await text(other, "status")];
	check(JSON.stringify(before) === JSON.stringify(after) && before[0] && before[1], "a link shows the same", [before, after, link]);
	check(!other.complaints.length, "without an error", other.complaints);
	await other.close();
}

// Every analysis, whole and in a range of time, copies what its command prints.
async function checkAnalyses(page) {
	const names = await page.$$eval("#table option", (options) => options.map((option) => option.value));
	check(["samples", "growth", "outstanding", "resident"].every((name) => names.includes(name)), "the page has each analysis that the recording can answer", names);
	for (const name of names) {
		await choose(page, "table", name);
		check(sorted(await copied(page, "f")) === sorted(printed(await copied(page, "c"))), `${name}: the paths of its command`, await page.evaluate(() => window.mtreport.copied));
		await page.evaluate(() => location.hash += "&range=120-310");
		await page.waitForFunction("window.mtreport.state.range");
		if (await text(page, "range"))
			check(sorted(await copied(page, "f")) === sorted(printed(await copied(page, "c"))), `${name}: those of a range`, await page.evaluate(() => window.mtreport.copied));
		await page.keyboard.press("Escape");
	}
	check(await page.evaluate(() => window.mtreport.timeline.gauges.length === 1 && window.mtreport.timeline.gauges[0].mapped.length > 1), "the timeline has resident and mapped memory");
	check((await page.evaluate(() => window.mtreport.facts.marks.rows.some(({ mark }) => mark === "exec"))), "and when it called exec");
	const free = (await page.evaluate(() => window.mtreport.facts.summary)).match(/available .*?([\d.]+ [kMGT]?B)/)[1];
	check((await text(page, "legend")).includes(`host: ${free} available`), "the legend has the host's available memory, as the first screen says", [free, await text(page, "legend")]);
}

async function checkChanges(page) {
	await page.evaluate(() => location.hash = "view=flame&table=growth");
	await page.waitForFunction("window.mtreport.graphs.length === 2");
	const said = await page.$eval(".note", (note) => note.textContent);
	check(said.startsWith("gone: "), "what is gone has a lane of its own", said);
	const [before, now] = printed(`mtreport --growth --folded ${process.env.CHANGES}`).trim().split("\n").map((line) => line.match(/ (\d+) (\d+)$/)).reduce((sums, line) => [sums[0] + Number(line[1]), sums[1] + Number(line[2])], [0, 0]);
	const [base, sum, below] = await page.evaluate(() => [window.mtreport.sums.baseSum, window.mtreport.sums.sum, window.mtreport.sums.below]);
	check(before > 0 && now > 0 && base > 0 && sum > 0 && below <= 0, "both sides have figures", [before, now, base, sum, below]);
	check((await text(page, "status")).includes("the base had"), "the status names the base", await text(page, "status"));
}

// Source text: the lines of --annotate, by a click and by a link.
async function checkSources(browser, page) {
	await page.evaluate(() => location.hash = "view=source&table=samples");
	await page.waitForFunction('document.querySelector("td.code")');
	const rows = await page.$$eval("tbody tr", (lines) => lines.map((line) => Array.from(line.children, (cell) => cell.textContent)));
	const row = rows.find((cells) => cells[4] === "scenes.c:76"), annotated = printed(`mtreport --annotate remember_session ${process.env.SOURCES}`);
	check(row && row[5] === "text of line 76 <b>&", "a line with figures has its text", row || rows);
	check(row && annotated.match(/([\d,]+) +[\d.]+ % +[\d,]+ +76\b/)[1] === row[2], "and the figure of --annotate", [row, annotated]);
	await page.evaluate(() => Array.from(document.querySelectorAll("tbody tr")).find((line) => line.textContent.includes("scenes.c:76")).click());
	const shown = await page.$$eval(".file .line", (lines) => lines.map((line) => line.textContent));
	check(shown.some((line) => line.endsWith("75text of line 75 <b>&")) && await page.$eval(".file .hit", (line) => line.title.length > 0), "a click shows the lines around it", shown);
	const other = await openPage(browser, "sources", await page.evaluate(() => location.hash));
	check(await other.$eval(".file", (box) => box.textContent) === await page.$eval(".file", (box) => box.textContent), "a link shows the same file");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("Escape");
	check(await page.$("td.code"), "Escape leads back to all lines");
	check(!(await page.evaluate(() => JSON.stringify(Array.from(window.mtreport.sources.of.values(), (lines) => lines.size)))).includes("300"), "lines far from any figure are not in the page");
	await other.close();
}

async function checkNames(page) {
	await choose(page, "table", "samples");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("5");
	const rows = await page.$$eval("td.text", (cells) => cells.map((cell) => cell.textContent));
	for (const name of ["<script>window.ran=1</script>", "'/><image href='x' onerror='window.ran=1'/>", "a;b]]>&amp;c", "bad?utf8", "L".repeat(10000)])
		check(rows.includes(name), `${name.slice(0, 40)} is text`, rows.map((row) => row.slice(0, 80)));
	for (const key of ["2", "3", "4", "6", "7", "1"])
		await page.keyboard.press(key);
	check(await page.evaluate(() => window.ran === undefined && !document.querySelector("image")), "and nothing ran");
	await page.keyboard.press("/");
	await page.keyboard.type("</script>");
	check((await text(page, "matched")).startsWith("matched: "), "such names are found", await text(page, "matched"));
}

run(async (browser) => {
	const page = await openPage(browser, "leak");
	for (const each of [checkStart, checkZoom, checkSearch, checkRange, checkKeys, checkDark, checkAnalyses])
		await each(page);
	await checkLink(browser, page);
	await checkToolbar(browser, "leak");
	await checkToolbar(browser, "forks");
	const helper = await openPage(browser, "lru"), rows = await helper.$$eval(".summary a", (links) => links.map((link) => [link.textContent]));
	await checkRows(helper, rows);
	const names = await openPage(browser, "names");
	await checkNames(names);
	const changes = await openPage(browser, "changes");
	await checkChanges(changes);
	const sources = await openPage(browser, "sources");
	await checkSources(browser, sources);
	for (const each of [page, names, changes, sources])
		check(!each.complaints.length, "no error, no question, no request to a network", each.complaints);
});
