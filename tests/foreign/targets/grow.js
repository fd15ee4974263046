// node --expose-gc grow.js COUNTED keep|replace: 64 KiB of Buffer 25 times a second, in functions that are compiled while they run.
const fs = require('fs');
const [file, course] = process.argv.slice(2);
const counted = fs.openSync(file, 'w+');
global.sessions = [];
let at = 0;

function openSession(bytes) {
	const session = Buffer.alloc(bytes, 1);
	if (course === 'keep' || sessions.length < 100) sessions.push(session);
	else sessions[at++ % 100] = session;
}

function handleRequest() {
	for (let i = 0, sum = 0; i < 200000; i++) sum += i % 7; // hot enough for each tier of the compiler
	openSession(65536);
	if (course !== 'keep' && at % 10 === 0) gc(); // else what was replaced is collected when there are some tens of MB of it
	fs.writeSync(counted, String(sessions.length * 65536).padStart(20), 0);
}

setInterval(handleRequest, 40);
