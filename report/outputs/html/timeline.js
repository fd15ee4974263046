// The recording over time: bars of the analysis shown, memory of processes and of the host, losses and marks. A drag selects a range.

const LINES = ["#d1495b", "#00798c", "#edae49", "#8f5db7", "#6a994e", "#bc6c25"], HOST = 34, AXIS = 12;

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

// The gauges of each process, heaviest first.
function gaugeLines(table) {
	const lines = pointsBy(table, ({ gauge, pid, process }) => `${gauge}\n${pid} ${process}`);
	return Array.from(lines, ([key, points]) => ({ gauge: key.split("\n")[0], process: key.slice(key.indexOf("\n") + 1), points }))
		.sort((a, b) => last(b.points) - last(a.points));
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

	show(table, bars, range) {
		Object.assign(this, { interval: table.interval, buckets: table.buckets, bars, range });
		this.draw();
	}

	bucket(event) {
		const place = this.canvas.getBoundingClientRect(), part = (event.clientX - place.left) / place.width;
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
		this.drawBars();
		this.drawHost();
		this.drawGauges();
		this.drawMarks();
		this.drawRange();
		ink.fillStyle = this.color("--faint");
		for (let i = 1; i < 10; i++)
			ink.fillText(`${(this.seconds * i / 10).toPrecision(3)} s`, width * i / 10, height - 2);
	}

	x(seconds) {
		return seconds / this.seconds * this.width;
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
		if (!this.bars || !this.interval)
			return;
		const top = this.bars.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1, bottom = this.height - AXIS;
		this.bars.forEach((value, i) => value && this.fill(value < 0 ? "--less" : "--bar", i * this.interval, (i + 0.8) * this.interval, bottom - Math.abs(value) / top * (bottom - this.top) * 0.6, bottom));
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

	// A line for each process: resident memory; thin and dashed, what is mapped.
	drawGauges() {
		const { ink } = this, bottom = this.height - AXIS;
		for (const gauge of ["mapped", "resident"]) {
			const all = this.gauges.filter((each) => each.gauge === gauge), scale = all.reduce((top, { points }) => most(points, top), 1);
			all.forEach(({ points }, i) => {
				ink.strokeStyle = LINES[i % LINES.length];
				ink.lineWidth = gauge === "resident" ? 1.8 : 0.8;
				ink.setLineDash(gauge === "resident" ? [] : [4, 3]);
				ink.beginPath();
				this.line(points, (value) => bottom - value / scale * (bottom - this.top - 6));
				ink.stroke();
			});
		}
		ink.setLineDash([]);
	}

	// Kills by their events; without them, as the host's count rose.
	drawMarks() {
		const ooms = this.marks.filter(({ mark }) => mark === "oom"), counted = this.host && !ooms.length ? this.host.kills : [];
		let free = 0;
		for (const [time, color, text] of [...ooms.map(({ time, process }) => [time, "--alarm", `OOM kill: ${process}`]), ...counted.map(([, time, kills]) => [time, "--alarm", `OOM kills: ${kills}`]),
			...this.marks.filter(({ mark }) => mark === "exec").map(({ time, process }) => [time, "--faint", `exec ${process}`])]) {
			const alarm = color === "--alarm", left = this.x(time), shown = text.slice(0, 30), wide = this.ink.measureText(shown).width;
			this.fill(color, time, time, alarm ? 0 : this.top, this.height - AXIS);
			if (left < free && !alarm)
				continue;
			this.ink.fillText(shown, Math.min(left + 3, this.width - wide - 3), this.top + 11);
			free = left + wide + 8;
		}
	}

	// Who the lines are, heaviest first, and the host.
	legend() {
		const { host } = this, rows = this.gauges.filter((each) => each.gauge === "resident").slice(0, LINES.length)
			.map(({ process, points }, i) => ({ color: LINES[i], text: `${process} ${figure(last(points), "B")}` }));
		if (rows.length)
			rows.push({ text: "resident; dashed: mapped; bars: the analysis" });
		if (host) {
			const swap = most(host.swap), stalled = Math.round(100 * host.stalled.reduce((top, [, , part]) => Math.max(top, part), 0));
			rows.push({ color: "var(--edge)", text: `host: ${figure(last(host.available), "B")} available` }, { color: swap ? LINES[3] : "", text: `swap ${figure(swap, "B")}` },
				{ color: stalled ? "var(--alarm)" : "", text: `pressure ${stalled} %` }, { text: `OOM kills ${host.kills.reduce((sum, [, , kills]) => sum + kills, 0)}` });
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
