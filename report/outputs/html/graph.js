// Flame graphs on a canvas, from their root up, down (icicle), or from the leaves (callers).

const ROW = 18, TEXT_ROOM = 26;

// Where each frame stands: x and width in the figure's unit, by levels from the root.
class Layout {
	// Roots first, all frames of the selection.
	static fromRoot(stacks, total) {
		const { children, name, parent, kinds } = stacks.merged, x = new Float64Array(stacks.merged.count), levels = [[0]];
		while (levels[levels.length - 1].length) {
			const below = [];
			for (const node of levels[levels.length - 1]) {
				let at = x[node];
				for (let i = children.first[node]; i < children.first[node + 1]; i++) {
					const child = children.order[i];
					if (total[child] <= 0)
						continue;
					x[child] = at;
					at += total[child];
					below.push(child);
				}
			}
			levels.push(below);
		}
		levels.pop();
		return Object.assign(new Layout(), { stacks, name, parent, kinds, total, x, levels });
	}

	// Leaves first: callers are found as far as they can be seen below the path that is zoomed into.
	static fromLeaves(stacks, self, zoom) {
		const made = { name: [0], parent: [0], kinds: [0], total: [0], x: [0], levels: [[0]] };
		const leaves = [];
		for (let i = 0; i < stacks.merged.count; i++) {
			if (self[i] > 0) {
				leaves.push([i, self[i]]);
				made.total[0] += self[i];
			}
		}
		Layout.addCallers(stacks, made, [[0, leaves]], zoom, made.total[0] / 4000);
		return Object.assign(new Layout(), { stacks, ...made });
	}

	static addCallers(stacks, made, level, zoom, least) {
		const { merged } = stacks;
		for (let depth = 0; level.length; depth++) {
			const next = [], ids = [];
			for (const [node, entries] of level) {
				const groups = Layout.groupByName(merged, entries);
				let at = made.x[node];
				for (const [name, group] of Array.from(groups).sort((a, b) => stacks.rank[a[0]] - stacks.rank[b[0]])) {
					const id = made.name.push(name) - 1;
					made.parent.push(node);
					made.kinds.push(group.kinds);
					made.total.push(group.sum);
					made.x.push(at);
					at += group.sum;
					ids.push(id);
					const onZoom = depth < zoom.length && zoom[depth] === stacks.texts[name];
					const floor = zoom.length ? least * group.sum / made.total[0] : least;
					if (onZoom || depth >= zoom.length ? group.sum >= (onZoom ? 0 : floor) : false)
						next.push([id, group.entries]);
				}
			}
			if (ids.length)
				made.levels.push(ids);
			level = next;
		}
	}

	static groupByName(merged, entries) {
		const groups = new Map();
		for (const [at, weight] of entries) {
			if (!at)
				continue;
			let group = groups.get(merged.name[at]);
			if (!group)
				groups.set(merged.name[at], group = { sum: 0, kinds: 0, entries: [] });
			group.sum += weight;
			group.kinds |= merged.kinds[at];
			group.entries.push([merged.parent[at], weight]);
		}
		return groups;
	}

	path(node) {
		const names = [];
		for (; node; node = this.parent[node])
			names.unshift(this.stacks.texts[this.name[node]]);
		return names;
	}

	depth(node) {
		let depth = 0;
		for (; node; node = this.parent[node])
			depth++;
		return depth;
	}

	ancestor(node, depth) {
		for (let i = this.depth(node); i > depth; i--)
			node = this.parent[node];
		return node;
	}

	// The frame at the end of a path, as far as there is one.
	find(names) {
		let node = 0;
		names.every((wanted, depth) => {
			const next = (this.levels[depth + 1] || []).find((id) => this.parent[id] === node && this.stacks.texts[this.name[id]] === wanted);
			node = next === undefined ? node : next;
			return next !== undefined;
		});
		return node;
	}

	// The index in a level, from low on, of the first frame that ends behind x.
	firstBehind(level, x, low = 0) {
		let high = level.length;
		while (low < high) {
			const middle = low + high >> 1;
			if (this.x[level[middle]] + this.total[level[middle]] > x)
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}

	at(depth, x) {
		const level = this.levels[depth] || [], node = level[this.firstBehind(level, x)];
		return node !== undefined && this.x[node] <= x ? node : undefined;
	}
}

// From 0 to 1 in 16 steps: the fewer colours, the faster a browser draws.
function hash(text) {
	let value = 0;
	for (let i = 0; i < text.length && i < 64; i++)
		value = Math.imul(value, 31) + text.charCodeAt(i) | 0;
	return (value >>> 0) % 997 % 16 / 15;
}

// The graph of one layout in an element that scrolls.
class Graph {
	// options: rootsBelow, change(node) or undefined, onZoom(names), onPoint(node), marks: Map of names
	constructor(parent, layout, options) {
		Object.assign(this, options, { layout, zoomed: 0, focus: 0, colors: new Map() });
		this.box = element("div", { className: "graph", tabIndex: 0 });
		this.canvas = element("canvas");
		this.spacer = element("div", { className: "spacer" });
		this.box.append(this.canvas, this.spacer);
		parent.append(this.box);
		this.spacer.style.height = `${Math.max(layout.levels.length * ROW, 1)}px`;
		this.box.addEventListener("scroll", () => this.draw());
		this.canvas.addEventListener("mousemove", (event) => this.onPoint(this.under(event)));
		this.canvas.addEventListener("mouseleave", () => this.onPoint(undefined));
		this.canvas.addEventListener("click", (event) => this.zoom(this.under(event)));
		this.box.addEventListener("keydown", (event) => this.key(event));
		this.observer = new ResizeObserver(() => this.resize());
		this.observer.observe(this.box);
	}

	// The roots are in sight at first.
	resize() {
		if (!this.sized && this.rootsBelow)
			this.box.scrollTop = this.box.scrollHeight;
		this.sized = true;
		this.draw();
	}

	rowOf(depth) {
		return this.rootsBelow ? this.layout.levels.length - 1 - depth : depth;
	}

	under(event) {
		const place = this.canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - place.top + this.box.scrollTop) / ROW), depth = this.rowOf(row);
		if (depth <= this.layout.depth(this.zoomed))
			return depth < 0 ? undefined : this.layout.ancestor(this.zoomed, depth);
		const { x, total } = this.layout, part = (event.clientX - place.left) / place.width;
		return this.layout.at(depth, x[this.zoomed] + part * total[this.zoomed]);
	}

	zoom(node) {
		if (node === undefined)
			return;
		this.zoomed = this.focus = node;
		this.onZoom(this.layout.path(node), node);
		this.draw();
	}

	show(names) {
		this.zoomed = this.focus = this.layout.find(names);
		this.draw();
	}

	// Arrows walk the tree, Enter zooms, Backspace leads back to the caller.
	key(event) {
		const { parent, levels } = this.layout, depth = this.layout.depth(this.focus);
		const inwards = this.rootsBelow ? "ArrowUp" : "ArrowDown", outwards = this.rootsBelow ? "ArrowDown" : "ArrowUp";
		const siblings = (levels[depth] || []).filter((node) => node && parent[node] === parent[this.focus]);
		const at = siblings.indexOf(this.focus);
		if (event.key === inwards)
			this.focusOn(this.widest(this.focus, depth));
		else if (event.key === outwards)
			this.focusOn(parent[this.focus]);
		else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
			this.focusOn(siblings[at + (event.key === "ArrowLeft" ? -1 : 1)]);
		else if (event.key === "Enter")
			this.zoom(this.focus);
		else if (event.key === "Backspace")
			this.zoom(parent[this.zoomed]);
		else
			return;
		event.preventDefault();
	}

	widest(node, depth) {
		const { parent, total, levels } = this.layout;
		return (levels[depth + 1] || []).filter((child) => parent[child] === node).reduce((best, child) =>
			best === undefined || total[child] > total[best] ? child : best, undefined);
	}

	focusOn(node) {
		if (node === undefined)
			return;
		this.focus = node;
		const top = this.rowOf(this.layout.depth(node)) * ROW;
		if (top < this.box.scrollTop || top + ROW > this.box.scrollTop + this.box.clientHeight)
			this.box.scrollTop = top - this.box.clientHeight / 2;
		this.onPoint(node);
		this.draw();
	}

	draw() {
		const scale = window.devicePixelRatio || 1, width = this.box.clientWidth, height = this.box.clientHeight;
		if (!width || !height)
			return;
		this.canvas.width = width * scale;
		this.canvas.height = height * scale;
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		const ink = this.canvas.getContext("2d");
		ink.scale(scale, scale);
		ink.font = "12px sans-serif";
		ink.textBaseline = "middle";
		this.style = getComputedStyle(document.documentElement);
		this.dark = this.style.getPropertyValue("--dark").trim() === "1";
		this.character = ink.measureText("abcdefghij").width / 10;
		this.drawn = 0;
		this.focused = document.activeElement === this.box;
		const first = Math.floor(this.box.scrollTop / ROW), last = Math.ceil((this.box.scrollTop + height) / ROW);
		for (let row = Math.max(first, 0); row < last && row < this.layout.levels.length; row++)
			this.drawLevel(ink, this.rowOf(row), row * ROW - this.box.scrollTop, width);
	}

	drawLevel(ink, depth, top, width) {
		const { x, total, levels } = this.layout, level = levels[depth], deep = this.layout.depth(this.zoomed);
		if (depth <= deep) {
			this.drawFrame(ink, this.layout.ancestor(this.zoomed, depth), 0, width, top, depth < deep);
			return;
		}
		const from = x[this.zoomed], to = from + total[this.zoomed], scale = width / total[this.zoomed];
		// Of those that are narrower than a pixel one is drawn in each: the others are leapt over.
		let taken = -1;
		for (let i = this.layout.firstBehind(level, from); i < level.length && x[level[i]] < to;) {
			const node = level[i], left = (x[node] - from) * scale, wide = total[node] * scale, pixel = Math.floor(left);
			if (wide >= 1 || pixel !== taken)
				this.drawFrame(ink, node, left, Math.max(wide, 1), top, false);
			taken = pixel;
			i = wide < 1 ? this.layout.firstBehind(level, from + (pixel + 1) / scale, i + 1) : i + 1;
		}
	}

	drawFrame(ink, node, left, wide, top, above) {
		const text = this.layout.stacks.texts[this.layout.name[node]], marked = this.marks && node && this.marks.get(this.layout.name[node]);
		this.drawn++;
		if (above)
			ink.globalAlpha = 0.6;
		ink.fillStyle = marked ? "#c000c0" : this.color(node, text);
		ink.fillRect(left, top, wide > 3 ? wide - 0.5 : wide, ROW - 1);
		if (this.focused && node === this.focus) {
			ink.strokeStyle = this.style.getPropertyValue("--ink");
			ink.strokeRect(left + 0.5, top + 0.5, Math.max(wide - 1.5, 1), ROW - 2);
		}
		if (above)
			ink.globalAlpha = 1;
		if (wide < TEXT_ROOM)
			return;
		ink.fillStyle = marked ? "#fff" : this.dark ? "#eee" : "#111";
		ink.fillText(this.fit(ink, node ? text : "all", wide - 6), left + 3, top + ROW / 2);
	}

	// As much of a name as has room; few letters are wider than twice the common width.
	fit(ink, text, room) {
		const shown = text.slice(0, Math.ceil(room / this.character * 2)), wide = ink.measureText(shown).width;
		return wide <= room && shown.length === text.length ? text : `${shown.slice(0, Math.max(Math.floor(shown.length * room / wide) - 3, 1))}..`;
	}

	// Green for memory, as mtreport --flamegraph; of a comparison red for more and blue for less.
	color(node, text) {
		const light = this.dark ? 28 : 66;
		if (this.change) {
			const part = Math.max(-1, Math.min(1, this.change(node)));
			return `hsl(${part > 0 ? 4 : 216} ${Math.round(90 * Math.min(1, Math.abs(part) * 4))}% ${this.dark ? 34 : 86 - Math.abs(part) * 24}%)`;
		}
		const kind = this.layout.kinds[node], key = node ? this.layout.name[node] * 64 + kind : -1;
		let color = this.colors.get(key);
		if (!color) {
			const vary = hash(text), hue = kind & WORDS ? 50 : kind & KERNEL ? 28 : kind & MADE ? 275 : kind & INLINED ? 178 : 112;
			color = node ? `hsl(${hue + vary * 24 - 12} ${38 + vary * 22}% ${light + vary * 10 - 5}%)` : this.dark ? "#444" : "#ccc";
			this.colors.set(key, color);
		}
		return color;
	}

	destroy() {
		this.observer.disconnect();
		this.box.remove();
	}
}
