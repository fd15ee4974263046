// What is selected, summed up: stacks as one tree of places, its merger by names, and the tables whose rows hang on its nodes.

// Bits of a place's kinds, as in report/outputs/parts/places.h.
const INLINED = 1, KERNEL = 2, MADE = 4, WORDS = 8, GUESSED = 16, JOINED = 32;

// Places and the tree of paths. Node 0 is the root; a parent has a lower number than its children.
class Stacks {
	constructor(facts, columns) {
		this.texts = columns.texts(facts.texts);
		for (const field of ["name", "image", "file", "line", "kinds"])
			this[field] = columns.numbers(facts[field]);
		const back = columns.numbers(facts.parent), place = columns.numbers(facts.place);
		this.count = back.length + 1;
		this.parent = new Int32Array(this.count);
		this.place = new Int32Array(this.count).fill(-1);
		for (let i = 1; i < this.count; i++) {
			this.parent[i] = i - back[i - 1];
			this.place[i] = place[i - 1];
		}
		this.rankTexts();
		this.merge();
	}

	// The order of names, so that siblings stand in it.
	rankTexts() {
		const order = Array.from(new Set(this.name)).sort((a, b) => this.texts[a] < this.texts[b] ? -1 : 1);
		this.rank = new Int32Array(this.texts.length);
		order.forEach((text, i) => this.rank[text] = i);
	}

	// The tree by names alone: of[] has the merged node of each node.
	merge() {
		const known = new Map(), of = new Int32Array(this.count);
		const parent = new Int32Array(this.count), name = new Int32Array(this.count), kinds = new Uint8Array(this.count);
		let count = 1;
		for (let i = 1; i < this.count; i++) {
			const up = of[this.parent[i]], text = this.name[this.place[i]], key = up * this.texts.length + text;
			const node = of[i] = known.has(key) ? known.get(key) : count;
			if (node === count) {
				known.set(key, node);
				parent[node] = up;
				name[node] = text;
				count++;
			}
			kinds[node] |= this.kinds[this.place[i]];
		}
		this.merged = { of, count, parent: parent.slice(0, count), name: name.slice(0, count), kinds: kinds.slice(0, count) };
		this.merged.children = this.sortChildren(this.merged);
	}

	// first[node]..first[node + 1] in order[]: its children by name.
	sortChildren({ count, parent, name }) {
		const first = new Int32Array(count + 2), order = new Int32Array(Math.max(count - 1, 0));
		for (let i = 1; i < count; i++)
			first[parent[i] + 2]++;
		for (let i = 2; i < first.length; i++)
			first[i] += first[i - 1];
		const byName = this.sortByName(count, name);
		for (const node of byName)
			order[first[parent[node] + 1]++] = node;
		return { first, order };
	}

	// All nodes but the root in the order of their names' ranks, by counting.
	sortByName(count, name) {
		const first = new Int32Array(this.texts.length + 1), nodes = new Int32Array(Math.max(count - 1, 0));
		for (let i = 1; i < count; i++)
			first[this.rank[name[i]] + 1]++;
		for (let i = 1; i < first.length; i++)
			first[i] += first[i - 1];
		for (let i = 1; i < count; i++)
			nodes[first[this.rank[name[i]]]++] = i;
		return nodes;
	}

	// Nodes below a place of the image, itself included.
	withImage(image) {
		const has = new Uint8Array(this.count);
		for (let i = 1; i < this.count; i++)
			has[i] = has[this.parent[i]] || Number(this.texts[this.image[this.place[i]]] === image);
		return has;
	}

	images() {
		return Array.from(new Set(this.image), (text) => this.texts[text]).filter((text) => text);
	}

	// The names of a merged node's path, root first.
	path(node) {
		const names = [];
		for (; node; node = this.merged.parent[node])
			names.unshift(this.texts[this.merged.name[node]]);
		return names;
	}
}

// Lines of source files, as far as the page has them: of[file] has texts by line.
class Sources {
	constructor(facts, columns) {
		this.of = new Map();
		this.changed = new Set(facts.source_changed);
		this.left = facts.source_left;
		const file = columns.numbers(facts.source_file), line = columns.numbers(facts.source_line), text = columns.texts(facts.source_text);
		for (let i = 0; i < text.length; i++) {
			if (!this.of.has(file[i]))
				this.of.set(file[i], new Map());
			this.of.get(file[i]).set(line[i], text[i]);
		}
	}

	line(file, line) {
		const lines = this.of.get(file);
		return lines && lines.get(line) || "";
	}
}

// One table: rows of a set of keys, a node, an interval and values.
class Table {
	constructor(facts, stacks, columns) {
		Object.assign(this, { name: facts.name, compared: facts.compared, scale: facts.scale, limits: facts.limits });
		this.interval = facts.interval / 1e9;
		this.keys = {};
		for (const key of facts.keys)
			this.keys[key.name] = Array.from(columns.numbers(key.sets), (text) => stacks.texts[text]);
		this.set = columns.differences(facts.set);
		this.node = columns.differences(facts.node);
		this.at = columns.differences(facts.interval_of);
		this.values = facts.values.map((value) => ({ ...value }));
		for (const value of this.values)
			value.of = value.items ? value.whole ? columns.signeds(value.items) : columns.doubles(value.items) : this.values[0].of;
		this.sets = facts.keys.length ? facts.keys[0].sets[1] : 1;
		this.buckets = this.interval ? this.at.reduce((most, at) => Math.max(most, at), 0) + 1 : 0;
	}

	value(name) {
		return this.values.find((value) => value.name === name) || this.values.find((value) => value.name === "bytes") || this.values[0];
	}

	// The texts of a key, those of a process with its name.
	label(key, set) {
		const keys = this.keys;
		if (key === "thread")
			return keys.tid ? `${keys.tid[set]} ${keys.comm[set]}` : undefined;
		if (key === "process")
			return keys.pid ? keys.pid[set] : keys.process && keys.process[set];
		return keys[key] && keys[key][set];
	}

	labels(key) {
		const seen = new Set();
		for (let set = 0; set < this.sets; set++)
			seen.add(this.label(key, set));
		seen.delete(undefined);
		return Array.from(seen);
	}

	// Which sets pass the filters.
	passing(filters) {
		const passes = new Uint8Array(this.sets).fill(1);
		for (const key of ["event", "process", "thread", "kind"]) {
			for (let set = 0; filters[key] && set < this.sets; set++)
				passes[set] &= Number(this.label(key, set) === filters[key]);
		}
		return passes;
	}

	// Calls use(row) for each row that passes the filters and stands in the range of intervals, or anywhere without one.
	each(stacks, filters, range, use) {
		const passes = this.passing(filters), has = filters.image ? stacks.withImage(filters.image) : null;
		const [from, to] = range && this.interval ? range : [0, Infinity];
		for (let row = 0; row < this.set.length; row++) {
			if (passes[this.set[row]] && this.at[row] >= from && this.at[row] <= to && (!has || has[this.node[row]]))
				use(row);
		}
	}
}

// The figures of a selection by merged node: self, total; of a comparison those of the base, too.
class Sums {
	constructor(stacks, table, value, filters, range) {
		const { of, count } = stacks.merged;
		this.stacks = stacks;
		this.places = new Float64Array(stacks.count);
		this.sum = this.below = this.baseSum = 0;
		const values = table.compared ? table.values[1].of : value.of, base = table.compared ? table.values[0].of : null;
		const own = new Float64Array(count), before = base ? new Float64Array(count) : null;
		table.each(stacks, filters, range, (row) => {
			this.places[table.node[row]] += values[row];
			own[of[table.node[row]]] += values[row];
			this.sum += values[row];
			if (base) {
				before[of[table.node[row]]] += base[row];
				this.baseSum += base[row];
			}
		});
		this.cut(own, before);
	}

	// Paths below 0 have no width: they are a remainder.
	cut(self, before) {
		const { count, parent } = this.stacks.merged;
		for (let i = 0; i < count; i++) {
			if (self[i] < 0) {
				this.below += self[i];
				self[i] = 0;
			}
		}
		this.self = self;
		this.before = before;
		this.total = Sums.propagate(self, parent, count);
		if (before) {
			this.base = Sums.propagate(before, parent, count);
			const gone = before.map((value, i) => self[i] ? 0 : Math.max(value, 0));
			this.gone = Sums.propagate(gone, parent, count);
		}
	}

	static propagate(self, parent, count) {
		const total = Float64Array.from(self);
		for (let i = count - 1; i > 0; i--)
			total[parent[i]] += total[i];
		return total;
	}

	// The sum of all paths with a name that matches, and which merged nodes are below one.
	match(test) {
		const { count, parent, name } = this.stacks.merged, known = new Map(), inside = new Uint8Array(count);
		let sum = 0;
		for (let i = 1; i < count; i++) {
			if (!known.has(name[i]))
				known.set(name[i], test(this.stacks.texts[name[i]]));
			const hit = known.get(name[i]);
			if (hit && !inside[parent[i]])
				sum += this.total[i];
			inside[i] = hit || inside[parent[i]] ? 1 : 0;
		}
		return { sum, names: known };
	}
}
