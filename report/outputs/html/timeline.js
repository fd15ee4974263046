// The recording over time: bars of the analysis shown, memory of processes, losses and marks. A drag selects a range.

const LINES = ["#d1495b", "#00798c", "#edae49", "#8f5db7", "#6a994e", "#bc6c25"];

// The readings of each process and gauge in order of time.
function gaugeLines(rows) {
	const lines = new Map();
	for (const { pid, process, gauge, time, value } of rows) {
		const key = `${gauge}\n${pid}\n${process}`;
		if (!lines.has(key))
			lines.set(key, { gauge, process: `${pid} ${process}`, points: [] });
		lines.get(key).points.push([Number(time), value]);
	}
	return Array.from(lines.values()).sort((a, b) => b.points[b.points.length - 1][1] - a.points[a.points.length - 1][1]);
}

class Timeline {
	constructor(canvas, facts, onRange) {
		Object.assign(this, { canvas, facts, onRange, range: null, bars: null, interval: 0, buckets: 0 });
		this.gauges = gaugeLines(facts.gauges || []);
		this.seconds = facts.recordings.reduce((most, recording) => Math.max(most, recording.seconds), 0) || 1;
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
		this.interval = table.interval;
		this.buckets = table.buckets;
		this.bars = bars;
		this.range = range;
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
		const [from, to] = this.range || [0, 0], last = this.buckets - 1, fit = (bucket) => Math.max(0, Math.min(last, bucket));
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
		ink.scale(scale, scale);
		ink.font = "11px sans-serif";
		this.color = (name) => style.getPropertyValue(name).trim();
		const x = (seconds) => seconds / this.seconds * width;
		this.drawLosses(ink, x, height);
		this.drawBars(ink, x, height);
		this.drawGauges(ink, x, height);
		this.drawMarks(ink, x, height);
		this.drawRange(ink, x, width, height);
		ink.fillStyle = this.color("--faint");
		for (let i = 1; i < 10; i++)
			ink.fillText(`${(this.seconds * i / 10).toPrecision(3)} s`, width * i / 10, height - 2);
	}

	drawLosses(ink, x, height) {
		ink.fillStyle = this.color("--loss");
		for (const loss of this.facts.recordings.flatMap((recording) => recording.losses))
			ink.fillRect(x(loss.from), 0, Math.max(x(loss.to) - x(loss.from), 1), height);
	}

	drawBars(ink, x, height) {
		if (!this.bars || !this.interval)
			return;
		const most = this.bars.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
		for (let i = 0; i < this.bars.length; i++) {
			const tall = Math.abs(this.bars[i]) / most * (height - 14) * 0.6;
			ink.fillStyle = this.color(this.bars[i] < 0 ? "--less" : "--bar");
			ink.fillRect(x(i * this.interval), height - 12 - tall, Math.max(x(this.interval) - 0.5, 1), tall);
		}
	}

	// A line for each process: resident memory; thin and dashed, what is mapped.
	drawGauges(ink, x, height) {
		for (const gauge of ["mapped", "resident"]) {
			const all = this.gauges.filter((each) => each.gauge === gauge);
			const most = all.reduce((top, each) => Math.max(top, ...each.points.map((point) => point[1])), 1);
			all.forEach((each, i) => {
				ink.strokeStyle = LINES[i % LINES.length];
				ink.lineWidth = gauge === "resident" ? 1.8 : 0.8;
				ink.setLineDash(gauge === "resident" ? [] : [4, 3]);
				ink.beginPath();
				each.points.forEach(([time, value], k) => ink[k ? "lineTo" : "moveTo"](x(time), height - 12 - value / most * (height - 18)));
				ink.stroke();
			});
		}
		ink.setLineDash([]);
	}

	drawMarks(ink, x, height) {
		let free = 0;
		for (const { time, mark, process } of this.facts.marks || []) {
			const left = x(Number(time)), text = mark === "oom" ? `OOM kill: ${process}` : `exec ${process}`;
			ink.fillStyle = this.color(mark === "oom" ? "--alarm" : "--faint");
			ink.fillRect(left, 0, mark === "oom" ? 2 : 1, height - 12);
			if (left < free && mark !== "oom")
				continue;
			ink.fillText(text.slice(0, 30), left + 3, 10);
			free = left + ink.measureText(text.slice(0, 30)).width + 8;
		}
	}

	// Who the lines are, heaviest first.
	legend() {
		return this.gauges.filter((each) => each.gauge === "resident").slice(0, LINES.length)
			.map(({ process, points }, i) => ({ color: LINES[i], text: `${process} ${figure(points[points.length - 1][1], "B")}` }));
	}

	drawRange(ink, x, width, height) {
		if (!this.range || !this.interval)
			return;
		const [left, right] = [x(this.range[0] * this.interval), x((this.range[1] + 1) * this.interval)];
		ink.fillStyle = this.color("--shade");
		ink.fillRect(0, 0, left, height);
		ink.fillRect(right, 0, width - right, height);
	}
}
