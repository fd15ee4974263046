// What tests/browser/flamegraph.sh wrote, as one who looks at it would use it.
"use strict";
const fs = require("fs");
const { check, open, run } = require("./browser.js");

const folder = process.env.TMPDIR;

// Returns the visible frames of one lane: name, x, width, whether it is a caller of the zoomed frame.
const frames = (page, lane = 0) => page.evaluate((which) => {
	const groups = Array.from(document.querySelectorAll("g.lane")[which].children);
	return groups.filter((g) => g.style.display !== "none").map((g) => {
		const rect = g.querySelector("rect"), title = g.querySelector("title").textContent, label = g.querySelector("text");
		return {
			name: title.slice(0, title.lastIndexOf(" (")), title, x: Number(rect.getAttribute("x")),
			width: Number(rect.getAttribute("width")), above: g.classList.contains("above"), fill: rect.getAttribute("fill"),
			label: label ? label.textContent : "",
		};
	});
}, lane);

const text = (page, id) => page.$eval(`#${id}`, (element) => element.textContent);
const shown = (page, id) => page.$eval(`#${id}`, (element) => getComputedStyle(element).display !== "none");
const click = (page, name, lane = 0) => page.evaluate((wanted, which) => {
	const groups = Array.from(document.querySelectorAll("g.lane")[which].children);
	const found = groups.find((g) => g.querySelector("title").textContent.startsWith(wanted + " ("));
	found.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
}, name, lane);

// The sum of the folded lines with a function that matches, and of all.
function foldedSums(pattern) {
	const lines = fs.readFileSync(`${folder}/stacks.folded`, "utf8").trim().split("\n").map((line) => line.match(/^(.*) (\d+)$/));
	const sum = (some) => some.reduce((total, line) => total + Number(line[2]), 0);
	return [sum(lines.filter((line) => line[1].split(";").some((name) => pattern.test(name)))), sum(lines)];
}

async function search(page, words) {
	page.answers = [words];
	await page.keyboard.down("Control");
	await page.keyboard.press("f");
	await page.keyboard.up("Control");
	return text(page, "matched");
}

async function checkZoom(page) {
	const before = await frames(page), base = before.find((frame) => frame.name === "page-faults");
	check(before.length > 20 && before[0].name === "all" && before[0].width === 1180, "the page shows its frames", before.slice(0, 3));
	check(!await shown(page, "reset"), "nothing is to be reset");
	await click(page, "page-faults");
	const after = await frames(page), scale = 1180 / base.width;
	const zoomed = after.find((frame) => frame.name === "page-faults");
	check(Math.abs(zoomed.width - 1180) < 0.1 && !zoomed.above, "a click makes a frame as wide as the picture", zoomed);
	check(after[0].above && after[0].name === "all" && after.filter((frame) => frame.above).length === 1, "its callers stay", after[0]);
	check(!after.some((frame) => frame.name === "brk"), "its neighbours go", after.map((frame) => frame.name));
	const thread = (list) => list.find((frame) => frame.name === "offspring" && frame.title.includes("5 samples"));
	check(Math.abs(thread(after).width - thread(before).width * scale) < 0.5, "what it calls widens in proportion", thread(after));
	check(after.some((frame) => frame.label && !before.some((old) => old.title === frame.title && old.label === frame.label)),
		"names appear where there is room now");
	await page.click("#reset");
	const back = await frames(page);
	const same = back.length === before.length && back.every((frame, i) =>
		Math.abs(frame.x - before[i].x) < 0.02 && Math.abs(frame.width - before[i].width) < 0.02 && !frame.above);
	check(same && !await shown(page, "reset"), "Reset zoom leads back", back.slice(0, 3));
}

async function checkSearch(page) {
	for (const words of ["heap_grow", "^touch$|area_take", "nothing like it"]) {
		const [found, all] = foldedSums(new RegExp(words)), said = await search(page, words);
		check(said === `Matched: ${(100 * found / all).toFixed(1)} % (${found} samples)`, `the sum of ${words} is that of --folded`, said);
	}
	await search(page, "heap_grow");
	const marked = (await frames(page)).filter((frame) => frame.fill === "#e600e6");
	check(marked.length > 0 && marked.every((frame) => frame.name === "heap_grow"), "what matches is marked", marked);
	check(await search(page, "heap_grow(") === "Matched: 0.0 % (0 samples)", "what is no regular expression is sought as it is");
	await page.click("#search");
	check(await text(page, "matched") === "" && !(await frames(page)).some((frame) => frame.fill === "#e600e6"), "Reset search clears it");
	await search(page, "touch");
	await page.keyboard.press("Escape");
	check(await text(page, "matched") === "", "Escape clears it, too");
}

async function checkDetails(page) {
	const place = await page.evaluate(() => {
		const box = document.querySelector("g.lane > g:nth-child(2) rect").getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	});
	await page.mouse.move(...place);
	check((await text(page, "details")).startsWith("brk ("), "the details below describe the frame under the pointer", await text(page, "details"));
}

async function checkChanges(page) {
	const before = await frames(page);
	check(await page.$$eval("g.lane", (lanes) => lanes.length) === 2, "what is gone has a lane of its own");
	const gone = await frames(page, 1), leaf = gone[gone.length - 1];
	check(before.some((frame) => frame.title.includes("against the base")) && gone[0].title.includes("; gone"), "titles of both lanes name the base", gone[0]);
	await click(page, leaf.name, 1);
	check(JSON.stringify(await frames(page)) === JSON.stringify(before), "zooming into one lane leaves the other");
	check((await frames(page, 1)).some((frame) => frame.name === leaf.name && Math.abs(frame.width - 1180) < 0.1), "and works in it", leaf);
}

async function checkNames(page) {
	const names = (await frames(page)).map((frame) => frame.name);
	for (const name of ["<script>window.ran=1</script>", "'/><image href='x' onerror='window.ran=1'/>", "a;b]]>&amp;c", "bad?utf8"])
		check(names.includes(name), `${name} is text`, names);
	check(names.includes("L".repeat(10000)), "10,000 characters are whole in the tooltip", names.map((name) => name.length));
	check(await page.evaluate(() => window.ran === undefined && document.querySelectorAll("image, script").length === 1), "and nothing ran");
	await click(page, "<script>window.ran=1</script>");
	check(await page.evaluate(() => window.ran === undefined), "nor after a zoom");
	await search(page, "</script>");
	check((await text(page, "matched")).startsWith("Matched: "), "such names are found", await text(page, "matched"));
}

run(async (browser) => {
	const steps = { stacks: [checkZoom, checkSearch, checkDetails], changes: [checkChanges], names: [checkNames] };
	for (const [name, checks] of Object.entries(steps)) {
		const page = await open(browser, `${folder}/${name}.svg`);
		for (const each of checks)
			await each(page);
		check(!page.complaints.length, `${name}.svg: no error, no question, no request to a network`, page.complaints);
		await page.close();
	}
});
