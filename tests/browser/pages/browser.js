// A headless browser for the tests, and TAP. Nothing that it opens reaches a network.
"use strict";
const puppeteer = require("puppeteer-core");

const OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--force-color-profile=srgb"];
const results = [];

exports.launch = () => puppeteer.launch({
	executablePath: process.env.CHROMIUM, headless: true, args: OPTIONS, userDataDir: process.env.TMPDIR + "/profile",
});

// A page of a file; complaints collects its errors, dialogs and requests to anything but files.
exports.open = async (browser, file, width = 1220, height = 900) => {
	const page = await browser.newPage(), complaints = [];
	await page.setViewport({ width, height });
	page.on("console", (message) => complaints.push(`console: ${message.text()}`));
	page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
	page.on("request", (request) => request.url().startsWith("file://") || complaints.push(`request: ${request.url()}`));
	page.on("dialog", async (dialog) => {
		const answer = page.answers.shift();
		if (answer === undefined)
			complaints.push(`dialog: ${dialog.message()}`);
		await (answer === undefined ? dialog.dismiss() : dialog.accept(answer));
	});
	page.answers = [];
	page.complaints = complaints;
	await page.goto(`file://${file}`);
	return page;
};

exports.check = (good, name, why) => {
	results.push(Boolean(good));
	if (!good)
		console.log(`# ${JSON.stringify(why)}`);
	console.log(`${good ? "ok" : "not ok"} ${results.length} - ${name}`);
};

// Runs the test with a browser and ends with a plan.
exports.run = async (test) => {
	const browser = await exports.launch();
	try {
		await test(browser);
	} finally {
		await browser.close();
	}
	console.log(`1..${results.length}`);
	process.exitCode = results.every(Boolean) ? 0 : 1;
};
