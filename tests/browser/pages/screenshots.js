// Takes the pictures of scripts/screenshots, which wrote the files: node screenshots.js FOLDER OUT
"use strict";
const { launch, open } = require("./browser.js");

const [folder, out] = process.argv.slice(2);

// Of each picture the page's file, what its address selects, and what is done there.
const VIEWS = {
	"page-first": ["page", ""],
	"page-range": ["page", "view=flame&table=growth&range=150-300"],
	"page-flame": ["page", "view=flame&table=resident"],
	"page-icicle": ["page", "view=icicle&table=outstanding"],
	"page-callers": ["page", "view=callers&table=resident"],
	"page-table": ["page", "view=table&table=resident"],
	"page-tree": ["page", "view=tree&table=growth"],
	"page-source": ["page", "view=source&table=resident", (page) => page.evaluate(() =>
		Array.from(document.querySelectorAll("tbody tr")).find((line) => /grower\.cpp:34/.test(line.textContent)).click())],
	"page-diff": ["diff", "view=flame&table=growth"],
	"page-link": ["page", "", (page) => page.evaluate(() => document.querySelectorAll(".summary a")[1].click()).then(() => page.waitForFunction("window.mtreport.graphs.length && window.mtreport.graphs[0].drawn"))],
	"page-dark": ["page", "view=icicle&table=resident", (page) => page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }])],
};

async function shoot(browser, name, [file, hash, act], height) {
	const page = await open(browser, `${folder}/${file}.html#${hash}`, 1280, height);
	await page.waitForFunction("window.mtreport && window.mtreport.ready");
	if (act)
		await act(page);
	await page.screenshot({ path: `${out}/${name}.png` });
	await page.close();
}

(async () => {
	const browser = await launch();
	for (const [name, view] of Object.entries(VIEWS))
		await shoot(browser, name, view, name === "page-first" ? 800 : 640);
	const page = await open(browser, `${folder}/flamegraph.svg`);
	await page.setViewport(await page.$eval("svg", (svg) => ({ width: svg.width.baseVal.value, height: svg.height.baseVal.value })));
	await page.screenshot({ path: `${out}/flamegraph.png` });
	await browser.close();
})();
