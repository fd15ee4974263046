import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;

/** java Heap COUNTED heap|direct keep|replace: 64 KiB 25 times a second, in the heap or outside of it. */
public class Heap {
	static final ArrayList<Object> sessions = new ArrayList<>();

	static Object openSession(boolean direct) {
		if (!direct)
			return new byte[65536];
		ByteBuffer buffer = ByteBuffer.allocateDirect(65536);
		while (buffer.hasRemaining())
			buffer.put((byte) 1);
		return buffer;
	}

	static void reuse(Object session) {
		if (session instanceof ByteBuffer buffer)
			for (buffer.clear(); buffer.hasRemaining();)
				buffer.put((byte) 2);
	}

	public static void main(String[] args) throws Exception {
		RandomAccessFile counted = new RandomAccessFile(args[0], "rw");
		boolean direct = args[1].equals("direct"), keep = args[2].equals("keep");
		for (int i = 0;; i++) {
			if (keep || sessions.size() < 100)
				sessions.add(openSession(direct));
			else if (direct)
				reuse(sessions.get(i % 100));
			else
				sessions.set(i % 100, openSession(false));
			counted.seek(0);
			counted.writeBytes(String.format("%20d", sessions.size() * 65536L));
			Thread.sleep(40);
		}
	}
}
