/*
 * A file system that stops answering: silent_mount DIR FILE. Mounts a file system at DIR in which
 * DIR/program has the bytes of FILE, and prints "mounted". After SIGUSR1 the program reads no more
 * requests. SIGTERM ends the program and the mount. The program speaks the kernel's FUSE protocol,
 * so no library is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM 2 /* node of the program */
#define WRITE_MAX 131072

static volatile sig_atomic_t silent, ended;
static int device, file;
static off_t file_size;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		silent = 1;
	else
		ended = 1;
}

static void reply(uint64_t unique, int error, const void *bytes, size_t size)
{
	static char out[sizeof(struct fuse_out_header) + WRITE_MAX];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = -error, .unique = unique};

	memcpy(out, &header, sizeof(header));
	if (size)
		memcpy(out + sizeof(header), bytes, size);
	(void)!write(device, out, header.len);
}

static struct fuse_attr attr_of(uint64_t node)
{
	if (node == PROGRAM)
		return (struct fuse_attr){.ino = node,
					  .size = (uint64_t)file_size,
					  .mode = S_IFREG | 0755,
					  .nlink = 1};
	return (struct fuse_attr){.ino = node, .mode = S_IFDIR | 0755, .nlink = 2};
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = {.nodeid = PROGRAM, .attr = attr_of(PROGRAM)};

	if (strcmp(name, "program"))
		reply(in->unique, ENOENT, NULL, 0);
	else
		reply(in->unique, 0, &out, sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	static char bytes[WRITE_MAX];
	ssize_t n = pread(file, bytes, what->size < WRITE_MAX ? what->size : WRITE_MAX,
			  (off_t)what->offset);

	reply(in->unique, n < 0 ? EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void answer(const struct fuse_in_header *in)
{
	const void *body = in + 1;
	const struct fuse_init_in *wish = body;
	struct fuse_init_out init = {.major = 7,
				     .minor = 31,
				     .max_readahead = wish->max_readahead,
				     .max_write = WRITE_MAX};
	struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	struct fuse_open_out open = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, body);
		break;
	case FUSE_GETATTR:
		reply(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(in, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char in[WRITE_MAX + 4096] __attribute__((aligned(8)));
	struct sigaction action = {.sa_handler = on_signal};
	struct stat status;
	char options[128];

	if (argc < 3)
		return 2;
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	file = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (device < 0 || file < 0 || fstat(file, &status)) {
		perror("silent_mount");
		return 1;
	}
	file_size = status.st_size;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (mount("silent", argv[1], "fuse", MS_NODEV, options)) {
		perror("silent_mount: mount");
		return 1;
	}
	puts("mounted");
	fflush(stdout);
	while (!ended) {
		struct pollfd poller = {.fd = device, .events = POLLIN};

		if (silent)
			pause();
		else if (poll(&poller, 1, 100) > 0 && read(device, in, sizeof(in)) > 0)
			answer((const struct fuse_in_header *)in);
	}
	umount2(argv[1], MNT_DETACH);
	return 0;
}
