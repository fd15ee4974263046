// The recording over time: bars of the analysis shown, memory of processes and of the host, losses and marks. A drag selects a range.

const LINES = ["#d1495b", "#00798c", "#edae49", "#8f5db7", "#6a994e", "#bc6c25"], HOST = 34, AXIS = 14, LEFT = 62;
const TIMES = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

// A round step, of which at most so many fit.
function stepOf(span, most) {
	const base = 10 ** Math.floor(Math.log10(span / most));
	return [1, 2, 5, 10].map((part) => part * base).find((step) => span / step <= most * 1.001);
}

// A table's points [time, value], by the text that keyOf(row) gives.
function pointsBy(table, keyOf) {
	const lines = new Map();
	for (const row of table ? table.rows : []) {
		const key = keyOf(row);
		lines.set(key, [...lines.get(key) || [], [row.time, row.value]]);
	}
	return lines;
}

const last = (points) => points[points.length - 1][1];
const most = (points, least = 0) => points.reduce((top, [, value]) => Math.max(top, value), least);

// Processes by what their resident memory rose by, most first: those that grew have a color.
function gaugeLines(table) {
	const lines = pointsBy(table, ({ gauge, pid, process }) => `${pid} ${process}\n${gauge}`), all = [];
	for (const [key, points] of lines) {
		const [process, gauge] = key.split("\n");
		if (gauge === "resident")
			all.push({ process, points, mapped: lines.get(`${process}\nmapped`) || [], most: most(points), grew: most(points) - points[0][1] });
	}
	all.sort((a, b) => b.grew - a.grew || b.most - a.most);
	all.forEach((each, i) => each.color = i < LINES.length && (!i || each.grew > all[0].grew / 20) ? LINES[i] : "");
	return all;
}

// The host's memory; counts as [from, to, change]. A count is written when it changes: it did so since the reading before.
function hostLines(table) {
	const lines = pointsBy(table, ({ gauge }) => gauge), available = lines.get("meminfo MemAvailable");
	if (!available)
		return null;
	const step = available.reduce((least, [time], i) => i ? Math.min(least, time - available[i - 1][0]) : least, Infinity);
	const changes = (name) => (lines.get(name) || []).map(([time, value], i, all) => i ? [Math.max(all[i - 1][0], time - step), time, value - all[i - 1][1]] : [0, 0, 0]);
	const total = lines.has("meminfo SwapTotal") ? last(lines.get("meminfo SwapTotal")) : 0;
	return {
		available, swap: (lines.get("meminfo SwapFree") || []).map(([time, free]) => [time, Math.max(total - free, 0)]),
		stalled: changes("pressure memory some").map(([from, to, us]) => [from, to, to > from ? Math.min(us / (to - from) / 1e6, 1) : 0]),
		kills: changes("vmstat oom_kill").filter(([, , count]) => count > 0),
	};
}

class Timeline {
	constructor(canvas, facts, onRange) {
		Object.assign(this, { canvas, facts, onRange, range: null, bars: null, interval: 0, buckets: 0 });
		this.gauges = gaugeLines(facts.gauges);
		this.grown = this.gauges.filter((each) => each.color);
		this.most = this.grown.reduce((top, each) => Math.max(top, each.most), 0);
		this.most = this.grown.reduce((top, each) => most(each.mapped) < 2 * this.most ? most(each.mapped, top) : top, this.most);
		this.host = hostLines(facts.host_gauges);
		this.marks = facts.marks ? facts.marks.rows : [];
		this.seconds = facts.recordings.reduce((top, recording) => Math.max(top, recording.seconds), 0) || 1;
		canvas.addEventListener("pointerdown", (event) => {
			this.from = this.bucket(event);
			canvas.setPointerCapture(event.pointerId);
			this.select(this.from, this.from);
		});
		canvas.addEventListener("pointermove", (event) => this.from !== undefined && this.select(this.from, this.bucket(event)));
		canvas.addEventListener("pointerup", (event) => {
			if (this.from === undefined)
				return;
			const to = this.bucket(event), from = this.from;
			this.from = undefined;
			this.onRange(this.interval ? [Math.min(from, to), Math.max(from, to)] : null);
		});
		canvas.addEventListener("dblclick", () => this.onRange(null));
		canvas.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(canvas);
	}

	show(table, unit, bars, range) {
		Object.assign(this, { interval: table.interval, buckets: table.buckets, unit, bars, range, tallest: (bars || []).reduce((a, b) => Math.max(a, Math.abs(b)), 0) });
		this.draw();
	}

	bucket(event) {
		const place = this.canvas.getBoundingClientRect(), part = (event.clientX - place.left - LEFT) / (place.width - LEFT);
		return Math.max(0, Math.min(this.buckets - 1, Math.floor(part * this.seconds / this.interval)));
	}

	select(a, b) {
		if (!this.interval)
			return;
		this.range = [Math.min(a, b), Math.max(a, b)];
		this.draw();
	}

	// Arrows move the range, with Shift its end.
	key(event) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!by || !this.interval)
			return;
		const [from, to] = this.range || [0, 0], fit = (bucket) => Math.max(0, Math.min(this.buckets - 1, bucket));
		event.preventDefault();
		this.onRange(event.shiftKey ? [from, Math.max(from, fit(to + by))] : [fit(from + by), fit(to + by)]);
	}

	draw() {
		const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
		if (!width)
			return;
		this.canvas.width = width * scale;
		this.canvas.height = height * scale;
		const ink = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
		Object.assign(this, { ink, width, height, top: this.host ? HOST : 0, color: (name) => style.getPropertyValue(name).trim() });
		ink.scale(scale, scale);
		ink.font = "11px sans-serif";
		this.drawLosses();
		this.drawAxes();
		this.drawBars();
		this.drawHost();
		this.drawGauges();
		this.drawMarks();
		this.drawRange();
	}

	x(seconds) {
		return LEFT + seconds / this.seconds * (this.width - LEFT);
	}

	y(part) {
		const bottom = this.height - AXIS;
		return bottom - part * (bottom - this.top - 14);
	}

	text(text, x, y, align = "start") {
		this.ink.fillStyle = this.color("--faint");
		this.ink.textAlign = align;
		this.ink.fillText(text, x, y);
		this.ink.textAlign = "start";
	}

	// Figures at the left, of memory or without gauges of the bars; times below.
	drawAxes() {
		const { ink, height, host } = this, scale = this.most || this.tallest, unit = this.most ? "B" : this.unit;
		const step = scale ? stepOf(scale, Math.max(Math.floor((height - this.top) / 32), 3)) : 1, room = (this.width - LEFT) / 90;
		for (let value = 0; value <= scale; value += step) {
			this.fill("--edge", 0, this.seconds, this.y(value / scale || 0), this.y(value / scale || 0) + 1);
			this.text(figure(value, unit).replace(".0 ", " "), LEFT - 6, this.y(value / scale || 0) + 4, "end");
		}
		if (host) {
			this.text("host", LEFT - 6, 14, "end");
			this.text(figure(most(host.available), "B"), LEFT - 6, 27, "end");
		}
		const tick = this.seconds < 120 ? stepOf(this.seconds, room) : TIMES.find((time) => this.seconds / time <= room) || stepOf(this.seconds / 86400, room) * 86400;
		const [size, word] = tick < 60 ? [1, "s"] : tick < 3600 ? [60, "min"] : [3600, "h"];
		for (let i = 0; i * tick <= this.seconds; i++) {
			ink.fillStyle = this.color("--faint");
			ink.fillRect(this.x(i * tick), height - AXIS, 1, 3);
			this.text(`${Number((i * tick / size).toPrecision(6))} ${word}`, Math.min(this.x(i * tick) + 3, this.width - 40), height - 2);
		}
	}

	fill(color, from, to, top, bottom) {
		this.ink.fillStyle = this.color(color);
		this.ink.fillRect(this.x(from), top, Math.max(this.x(to) - this.x(from), 1), bottom - top);
	}

	line(points, y) {
		points.forEach(([time, value], i) => this.ink[i ? "lineTo" : "moveTo"](this.x(time), y(value)));
	}

	drawLosses() {
		for (const loss of this.facts.recordings.flatMap((recording) => recording.losses))
			this.fill("--loss", loss.from, loss.to, 0, this.height);
	}

	drawBars() {
		const part = this.most ? 0.6 : 1;
		(this.tallest ? this.bars : []).forEach((value, i) => value && this.fill(value < 0 ? "--less" : "--bar", i * this.interval, (i + 0.8) * this.interval, this.y(Math.abs(value) / this.tallest * part), this.height - AXIS));
	}

	// A lane of its own: available memory as an area, swap in use as a line, and how much of the time tasks waited for memory.
	drawHost() {
		if (!this.host)
			return;
		const { ink, host } = this, scale = most(host.swap, most(host.available)) || 1, y = (value) => HOST - 1 - value / scale * (HOST - 4);
		ink.fillStyle = this.color("--edge");
		ink.beginPath();
		this.line([[host.available[0][0], 0], ...host.available, [this.seconds, last(host.available)], [this.seconds, 0]], y);
		ink.fill();
		ink.strokeStyle = LINES[3];
		ink.beginPath();
		this.line(most(host.swap) ? host.swap : [], y);
		ink.stroke();
		for (const [from, to, part] of host.stalled)
			this.fill("--alarm", from, part ? to : from, HOST - 1 - part * (HOST - 4), HOST - 1);
		this.fill("--edge", 0, this.seconds, HOST - 1, HOST);
	}

	// Resident memory of each process, as far as the chart is tall enough; thin and dashed, what those that grew had mapped.
	drawGauges() {
		const { ink } = this, draw = (points, color, width, dashes) => {
			Object.assign(ink, { strokeStyle: color, lineWidth: width });
			ink.setLineDash(dashes);
			ink.beginPath();
			this.line(points, (value) => this.y(value / this.most));
			ink.stroke();
		};
		for (const { points, mapped, most: top, color } of this.gauges.slice().reverse()) {
			if (most(mapped) <= this.most && color)
				draw(mapped, color, 0.8, [4, 3]);
			if (top <= this.most)
				draw(points, color || this.color("--faint"), color ? 2 : 0.5, []);
		}
		ink.setLineDash([]);
	}

	// Kills by their events; without them, as the host's count rose.
	drawMarks() {
		const ooms = this.marks.filter(({ mark }) => mark === "oom"), counted = this.host && !ooms.length ? this.host.kills : [];
		let free = LEFT;
		for (const [time, color, text] of [...ooms.map(({ time, process }) => [time, "--alarm", `OOM kill: ${process}`]), ...counted.map(([, time, kills]) => [time, "--alarm", `OOM kills: ${kills}`]),
			...this.marks.filter(({ mark }) => mark === "exec").map(({ time, process }) => [time, "--edge", `exec ${process}`])]) {
			const alarm = color === "--alarm", left = this.x(time), shown = text.slice(0, 30), wide = this.ink.measureText(shown).width;
			this.fill(color, time, time, alarm ? 0 : this.top, this.height - AXIS);
			if (left < free && !alarm)
				continue;
			this.ink.fillStyle = this.color(alarm ? color : "--faint");
			this.ink.fillText(shown, Math.min(left + 3, this.width - wide - 3), this.top + 11);
			free = left + wide + 8;
		}
	}

	// What the lines and bars are, and the host.
	legend(name) {
		const { host, grown } = this, rows = grown.map(({ process, color }) => ({ color, text: process }));
		if (rows.length)
			rows.push({ text: `lines: resident memory${grown.some((each) => each.mapped.length && most(each.mapped) <= this.most) ? ", dashed: mapped" : ""}${this.gauges.length > grown.length ? `; thin: ${count(this.gauges.length - grown.length)} more processes` : ""}` });
		if (this.tallest)
			rows.push({ color: "var(--bar)", text: `${name}: at most ${figure(this.tallest, this.unit)} in ${this.interval >= 1 ? `${Number(this.interval.toPrecision(3))} s` : `${Number((this.interval * 1000).toPrecision(3))} ms`}` });
		if (host) {
			const swap = most(host.swap), stalled = Math.round(100 * host.stalled.reduce((top, [, , part]) => Math.max(top, part), 0)), kills = host.kills.reduce((sum, [, , kills]) => sum + kills, 0);
			rows.push({ color: "var(--edge)", text: `host: ${figure(last(host.available), "B")} available` }, ...[[swap, LINES[3], `swap ${figure(swap, "B")}`], [stalled, "var(--alarm)", `pressure ${stalled} %`], [kills, "", `OOM kills ${kills}`]]
				.filter(([value]) => value).map(([, color, text]) => ({ color, text })));
		}
		return rows;
	}

	drawRange() {
		if (!this.range || !this.interval)
			return;
		this.fill("--shade", 0, this.range[0] * this.interval, 0, this.height);
		this.fill("--shade", (this.range[1] + 1) * this.interval, this.seconds, 0, this.height);
	}
}
