/*
 * Copies standard input out of a virtual machine, into the memory of its ivshmem device, which is a
 * file of the host. Only PCI is used, no driver. The first 8 bytes are the size, written last.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char devices[] = "/sys/bus/pci/devices";

/* Whether the PCI device of that name is an ivshmem device (1af4:1110). */
static int is_ours(const char *name)
{
	char path[512], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/modalias", devices, name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return !strncmp(text, "pci:v00001AF4d00001110", 22);
}

/* Maps the device's memory; returns NULL if there is no device. */
static uint8_t *find_memory(size_t *size)
{
	DIR *dir = opendir(devices);
	struct dirent *entry;
	uint8_t *at = MAP_FAILED;

	while (dir && at == MAP_FAILED && (entry = readdir(dir))) {
		char path[512];
		struct stat st;
		int fd;

		if (!is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s/resource2", devices, entry->d_name);
		fd = open(path, O_RDWR);
		if (fd < 0 || fstat(fd, &st))
			continue;
		*size = (size_t)st.st_size;
		at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
	return at == MAP_FAILED ? NULL : at;
}

int main(void)
{
	static uint8_t buffer[1 << 16];
	size_t size = 0;
	uint64_t used = 8;
	uint8_t *memory = find_memory(&size);
	ssize_t n;

	if (!memory) {
		fputs("deliver: no ivshmem device\n", stderr);
		return 1;
	}
	while ((n = read(0, buffer, sizeof(buffer))) > 0) {
		if (used + (size_t)n > size) {
			fputs("deliver: the device is full\n", stderr);
			return 1;
		}
		memcpy(memory + used, buffer, (size_t)n);
		used += (size_t)n;
	}
	used -= 8;
	memcpy(memory, &used, sizeof(used));
	return 0;
}
