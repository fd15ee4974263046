// Keeps 256 KB of each request, by a function that the runtime interprets, and compiles three times while it runs.
const sessions = [];

function openSession(bytes) {
	const session = new Uint8Array(bytes);
	for (let i = 0; i < bytes; i += 4096) session[i] = i;
	return session;
}

setInterval(() => sessions.push(openSession(1 << 18)), 125);
