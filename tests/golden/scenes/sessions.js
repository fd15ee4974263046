// Keeps a session of some 16 KB of each request.
const sessions = new Map();

function handleRequest(number) {
	sessions.set(number, new Array(2000).fill(number + 0.5));
}

let number = 0;
setInterval(() => handleRequest(number++), 60);
