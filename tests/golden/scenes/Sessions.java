import java.util.ArrayList;
import java.util.List;

/** Keeps 16 KB of each request. */
public class Sessions {
	private static final List<byte[]> kept = new ArrayList<>();

	static void handleRequest(int number) {
		kept.add(new byte[16 << 10]);
	}

	public static void main(String[] arguments) throws Exception {
		for (int i = 0; ; i++) {
			handleRequest(i);
			Thread.sleep(30);
		}
	}
}
