// What tests/browser/speedscope.sh wrote, in speedscope's own page: its table of functions has the figures of the folded stacks.
"use strict";
const fs = require("fs");
const { check, open, run } = require("./browser.js");

const folder = process.env.TMPDIR;
const UNITS = { "": 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

// By function: the sum of the stacks that pass through it, and of those that end in it.
function wanted(name) {
	const functions = new Map();
	for (const line of fs.readFileSync(`${folder}/${name}.folded`, "utf8").trim().split("\n")) {
		const [, path, figure] = line.match(/^(.*) (\d+)$/), names = path.split(";");
		for (const each of new Set(names)) {
			const sums = functions.get(each) || [0, 0];
			functions.set(each, [sums[0] + Number(figure), sums[1] + (each === names.at(-1) ? Number(figure) : 0)]);
		}
	}
	return functions;
}

// Returns the number that "1.50 KB (3%)" represents, and how far the text rounds it.
function figure(text) {
	const [, number, unit] = text.replace(/,/g, "").match(/^([\d.]+) ?([KMG]?B)? \(/), decimals = (number.split(".")[1] || "").length;
	return { value: Number(number) * UNITS[unit || ""], slack: 0.51 * UNITS[unit || ""] / 10 ** decimals };
}

const rows = (page) => page.$$eval("table tr", (lines) => lines.map((line) =>
	Array.from(line.children).map((cell) => cell.textContent)).filter((cells) => /^[\d.,]+/.test(cells[0])));

// Opens a file as a person does, and goes to the table of functions.
async function load(page, file) {
	const input = await page.waitForSelector("label[for=file] + input#file, input#file");
	await input.uploadFile(file);
	await page.waitForFunction(() => document.body.innerText.includes("Sandwich"), { timeout: 20000 });
	await page.keyboard.press("3");
	await page.waitForFunction(() => document.querySelectorAll("table tr").length > 1, { timeout: 20000 });
	return rows(page);
}

// Names as either has them: folded ones have no blanks.
const plain = (name) => name.replace(/ /g, "_");

async function compare(browser, name, file) {
	const page = await open(browser, process.env.SPEEDSCOPE, 1220, 2000);
	const shown = new Map((await load(page, `${folder}/${file}`)).map(([total, self, symbol]) => [plain(symbol), [total, self]]));
	const want = wanted(name), wrong = [];
	for (const [symbol, sums] of want) {
		const cells = shown.get(plain(symbol)) || ["0 (", "0 ("];
		cells.map(figure).forEach((found, at) => Math.abs(found.value - sums[at]) <= found.slack || wrong.push([symbol, cells, sums]));
	}
	check(shown.size === want.size && !wrong.length, `speedscope has ${want.size} functions of ${file}, with our totals`, [wrong, [...shown.keys()]]);
	const complaints = page.complaints.filter((text) => /^(error|request|dialog)/.test(text) && !text.startsWith("request: blob:"));
	check(!complaints.length, "... and nothing to complain of", complaints);
	await page.close();
}

run(async (browser) => {
	for (const name of process.argv.slice(2)) {
		await compare(browser, name, `${name}.folded`);
		await compare(browser, name, `${name}.pb.gz`);
	}
});
