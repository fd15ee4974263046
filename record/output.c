/* Opening the output. A rename rather than a truncation: freeing a large file's blocks would stall
 * the start. */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"

static struct mt_error *output_error(int errnum, const char *path)
{
	struct mt_error *err = mt_error_os(errnum, "cannot write %s", path);

	if (err->kind == MT_ERR_OS)
		err->kind = MT_ERR_OUTPUT;
	return mt_error_hint(err, "-o FILE chooses another place");
}

static struct mt_error *open_stdout(int *fd)
{
	int copy;

	if (isatty(STDOUT_FILENO))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "a recording is not for a terminal"),
				     "send it to a file or a pipe: mtrec -o - ... | cat > FILE");
	copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return output_error(errno, "standard output");
	*fd = copy;
	return NULL;
}

struct mt_error *mt_output_open(const char *path, int *fd)
{
	MT_CLEANUP_FREE char *old = NULL;
	struct stat status;
	int opened;

	if (!strcmp(path, "-"))
		return open_stdout(fd);
	if (!lstat(path, &status) && S_ISREG(status.st_mode)) {
		if (asprintf(&old, "%s.old", path) < 0)
			return mt_error_nomem();
		if (rename(path, old))
			return output_error(errno, old);
	}
	opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (opened < 0)
		return output_error(errno, path);
	*fd = opened;
	return NULL;
}
