// The page's data as page_data.h describes them: decompressed by the browser, columns read on demand.

// Reads columns of one decompressed buffer.
class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	// LEB128; beyond 32 bits by multiplication, exact up to 2^53.
	number() {
		let byte = this.bytes[this.at++], value = byte & 127;
		for (let scale = 128; byte & 128; scale *= 128) {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
		}
		return value;
	}

	signed() {
		const number = this.number();
		return number % 2 ? -(number + 1) / 2 : number / 2;
	}

	numbers([at, count], into = new Int32Array(count)) {
		this.at = at;
		for (let i = 0; i < count; i++)
			into[i] = this.number();
		return into;
	}

	signeds([at, count]) {
		const values = new Float64Array(count);
		this.at = at;
		for (let i = 0; i < count; i++)
			values[i] = this.signed();
		return values;
	}

	// Each is stored as what it is more than the one before.
	differences([at, count]) {
		const values = new Int32Array(count);
		this.at = at;
		for (let i = 0, last = 0; i < count; i++)
			values[i] = last += this.signed();
		return values;
	}

	doubles([at, count]) {
		return new Float64Array(this.bytes.slice(at, at + 8 * count).buffer);
	}

	texts([at, count]) {
		const decoder = new TextDecoder(), texts = new Array(count);
		this.at = at;
		for (let i = 0; i < count; i++) {
			const length = this.number();
			texts[i] = decoder.decode(this.bytes.subarray(this.at, this.at + length));
			this.at += length;
		}
		return texts;
	}
}

// The JSON object and the columns that its members stand for.
async function readData(base64) {
	const text = atob(base64), packed = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
	const size = new DataView(bytes.buffer).getUint32(bytes.length - 4, true);
	const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(bytes.length - 4 - size, bytes.length - 4)));
	return { facts, columns: new Columns(bytes) };
}
