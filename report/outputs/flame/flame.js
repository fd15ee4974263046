// A flame graph's script: a line that says what is under the pointer, zoom into a frame, search, reset.
//
// The picture is complete without it. The frames of a lane stand in order, each caller before its callees, so the callees
// of a frame are those behind it that are deeper, up to the next that is not. Names are only ever set as text.
"use strict";
(function () {
	const svg = document.documentElement, at = (id) => document.getElementById(id);
	const number = (name) => Number(svg.dataset[name]);
	const PAD = number("pad"), ROW = number("row"), CHARACTER = number("character"), FACTOR = number("factor");
	const WIDTH = number("width") - 2 * PAD, UNIT = svg.dataset.unit, FOUND = "#e600e6";
	const details = at("details"), matched = at("matched"), reset = at("reset"), search = at("search");
	const lanes = Array.from(document.querySelectorAll("g.lane"), readLane);
	const places = new Map(lanes.flatMap((lane) => lane.frames.map((frame, index) => [frame.g, { lane, index }])));
	let sought = "";

	function readLane(g) {
		const bottom = Number(g.dataset.root);
		const frames = Array.from(g.children, (child) => readFrame(child, bottom));
		return { frames, total: Number(g.dataset.total), name: g.dataset.name, zoomed: 0 };
	}

	function readFrame(g, bottom) {
		const rect = g.querySelector("rect"), title = g.firstElementChild.textContent;
		const read = (name) => Number(rect.getAttribute(name));
		return {
			g, rect, title, text: g.querySelector("text"), name: title.slice(0, title.lastIndexOf(" (")),
			value: Number(g.dataset.v), fill: rect.getAttribute("fill"), x: read("x") - PAD, width: read("width"), y: read("y"),
			depth: Math.round(Math.abs(read("y") - bottom) / ROW),
		};
	}

	// The name as far as it fits, two dots in place of its end.
	function fit(name, width) {
		const most = Math.floor((width - 5) / CHARACTER), characters = Array.from(name.slice(0, 2 * WIDTH));
		if (most < 3)
			return "";
		return characters.length > most ? characters.slice(0, most - 2).join("") + ".." : name;
	}

	function show(frame, x, width, above) {
		const label = fit(frame.name, width);
		frame.g.style.display = "";
		frame.g.classList.toggle("above", above);
		frame.rect.setAttribute("x", (PAD + x).toFixed(2));
		frame.rect.setAttribute("width", width.toFixed(2));
		if (!frame.text && label) {
			frame.text = document.createElementNS(svg.namespaceURI, "text");
			frame.text.setAttribute("y", frame.y + ROW - 4.5);
			frame.g.append(frame.text);
		}
		if (frame.text) {
			frame.text.setAttribute("x", (PAD + x + 3).toFixed(2));
			frame.text.textContent = label;
		}
	}

	function callersOf(frames, index) {
		const callers = new Set();
		for (let i = index - 1, depth = frames[index].depth; i >= 0 && depth > 0; i--) {
			if (frames[i].depth >= depth)
				continue;
			callers.add(i);
			depth = frames[i].depth;
		}
		return callers;
	}

	// One frame as wide as the picture, with its callees in proportion and its callers; all others away.
	function zoom(lane, index) {
		const frames = lane.frames, base = frames[index], callers = callersOf(frames, index), scale = WIDTH / base.width;
		const all = index === 0;
		let end = index + 1;
		while (end < frames.length && frames[end].depth > base.depth)
			end++;
		frames.forEach((frame, i) => {
			if (all)
				show(frame, frame.x, frame.width, false);
			else if (i >= index && i < end)
				show(frame, (frame.x - base.x) * scale, frame.width * scale, false);
			else if (callers.has(i))
				show(frame, 0, WIDTH, true);
			else
				frame.g.style.display = "none";
		});
		lane.zoomed = index;
		reset.classList.toggle("hidden", lanes.every((each) => !each.zoomed));
	}

	function unzoom() {
		for (const lane of lanes.filter((each) => each.zoomed))
			zoom(lane, 0);
	}

	function figure(value) {
		const scaled = value * FACTOR, units = ["", "k", "M", "G", "T", "P"];
		let size = scaled, unit = 0;
		if (UNIT !== "bytes")
			return `${Math.round(scaled).toLocaleString("en-US")} ${UNIT}`;
		for (; Math.abs(size) >= 1000 && unit < 5; unit++)
			size /= 1000;
		return `${unit ? size.toPrecision(3) : Math.round(size)} ${units[unit]}B`;
	}

	function expression(pattern) {
		try {
			return new RegExp(pattern);
		} catch (error) {
			return new RegExp(pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		}
	}

	// Colours what matches; the sum, in which a frame that one of its callers brought in does not count again.
	function mark(lane, pattern) {
		let sum = 0, within = Infinity;
		for (const frame of lane.frames) {
			const found = pattern !== null && pattern.test(frame.name);
			frame.rect.setAttribute("fill", found ? FOUND : frame.fill);
			if (frame.depth <= within)
				within = Infinity;
			if (found && within === Infinity) {
				sum += frame.value;
				within = frame.depth;
			}
		}
		return sum;
	}

	function find(text) {
		const pattern = text ? expression(text) : null, sums = lanes.map((lane) => mark(lane, pattern));
		sought = text;
		search.textContent = text ? "Reset search" : "Search";
		search.classList.toggle("active", Boolean(text));
		matched.textContent = text ? "Matched: " + lanes.map((lane, i) =>
			`${lane.name}${(100 * sums[i] / lane.total).toFixed(1)} % (${figure(sums[i])})`).join("; ") : "";
	}

	function ask() {
		const text = sought ? "" : prompt("Find functions (regular expression):", "");
		if (text !== null)
			find(text);
	}

	svg.addEventListener("click", (event) => {
		const place = places.get(event.target.closest("g.lane > g"));
		if (place)
			zoom(place.lane, place.index);
	});
	svg.addEventListener("mouseover", (event) => {
		const place = places.get(event.target.closest("g.lane > g"));
		details.textContent = place ? place.lane.frames[place.index].title : "";
	});
	document.addEventListener("keydown", (event) => {
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			find("");
			ask();
		} else if (event.key === "Escape") {
			unzoom();
			find("");
		}
	});
	reset.addEventListener("click", unzoom);
	search.addEventListener("click", ask);
}());
