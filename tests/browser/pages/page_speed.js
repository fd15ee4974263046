// How long a page takes until it can be used, and a zoom, a search and another selection of it: node page_speed.js FILE.html
"use strict";
const { launch, open } = require("./browser.js");

(async () => {
	const browser = await launch(), page = await open(browser, process.argv[2] + "#view=flame");
	await page.waitForFunction("window.mtreport && window.mtreport.ready", { timeout: 60000 });
	const times = await page.evaluate(() => {
		const timed = (act) => {
			const from = performance.now();
			act();
			return Math.round(performance.now() - from);
		};
		const { graphs, stacks, state, ready } = window.mtreport, [graph] = graphs, { levels, total } = graph.layout;
		const widest = (depth) => levels[depth].reduce((best, node) => total[node] > total[best] ? node : best);
		const input = document.querySelector("#search"), press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
		return {
			nodes: stacks.count, drawn: graph.drawn, ready: Math.round(ready),
			zoom: [1, 3, 6].map((depth) => timed(() => graph.zoom(widest(depth)))), back: timed(() => graph.zoom(0)),
			search: timed(() => { input.value = "leaf_1"; input.dispatchEvent(new Event("input")); }),
			callers: timed(() => press("4")), zoomed: state.zoom.length, table: timed(() => press("5")), icicle: timed(() => press("3")),
		};
	});
	console.log(`ms: ${JSON.stringify(times)}`, page.complaints.join("\n"));
	await browser.close();
})();
