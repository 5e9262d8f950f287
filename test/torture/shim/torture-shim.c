/*
 * Stands between a process and its disk. For LD_PRELOAD on Linux.
 *
 * TORTURE_FOLDER  the folder whose files are watched, absolute and resolved, but for "-shm", which SQLite rebuilds.
 * TORTURE_LOG     where every change to those files is written down, by all processes together, in order.
 * TORTURE_FAULTS  a file of 8 bytes that say which syncs fail; the parent process may change them at any time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, OPEN, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, UNLINK, RENAME, MARK, UNSUPPORTED, SYNC_FAILED };

/* The same layout is read in disk/log.ts and written in shim/shim.ts. */
struct record {
  uint32_t size;
  uint32_t type;
  uint64_t file;
  int64_t number;
  uint32_t path_size;
  uint32_t data_size;
};
struct faults {
  int32_t sync_errno;
  int32_t fails_in; /* how many more syncs succeed first */
};

#define MAX_FDS 65536
static uint64_t watched[MAX_FDS]; /* the file's number, 0 when it is none of ours */
static char folder[4096];
static size_t folder_size;
static int log_fd = -1;
static volatile struct faults *faults;

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("TORTURE_FOLDER");
  if (text) folder_size = (size_t)snprintf(folder, sizeof folder, "%s/", text);
  int (*open_file)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  const char *log = getenv("TORTURE_LOG");
  if (log) log_fd = open_file(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const char *plan = getenv("TORTURE_FAULTS");
  int fd = plan ? open_file(plan, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) faults = map;
  close(fd);
}

static void note(uint32_t type, uint64_t file, int64_t number, const char *path, const void *data, size_t data_size) {
  if (log_fd < 0) return;
  int saved = errno;
  size_t path_size = path ? strlen(path) : 0;
  struct record record = {(uint32_t)(sizeof record + path_size + data_size), type, file, number, (uint32_t)path_size,
                          (uint32_t)data_size};
  struct iovec parts[3] = {{&record, sizeof record}, {(void *)path, path_size}, {(void *)data, data_size}};
  static ssize_t (*next)(int, const struct iovec *, int);
  if (!next) next = dlsym(RTLD_NEXT, "writev");
  if (next(log_fd, parts, 3) != (ssize_t)record.size) abort();
  errno = saved;
}

/* The name within the folder, "." for the folder itself, NULL for what is not watched. */
static const char *name_of(const char *path) {
  if (folder_size == 0 || path == NULL) return NULL;
  if (strncmp(path, folder, folder_size - 1) != 0) return NULL;
  if (path[folder_size - 1] == 0) return ".";
  if (path[folder_size - 1] != '/') return NULL;
  size_t size = strlen(path);
  if (size > 4 && strcmp(path + size - 4, "-shm") == 0) return NULL;
  return path + folder_size;
}

/* Node closes with a system call of its own, so the handle may be that of another file by now. */
static uint64_t number_of(int fd) {
  if (fd < 0 || fd >= MAX_FDS || watched[fd] == 0) return 0;
  struct stat stat;
  int saved = errno;
  if (fstat(fd, &stat) != 0 || stat.st_ino != watched[fd]) watched[fd] = 0;
  errno = saved;
  return watched[fd];
}

/* True when the sync is to fail. A count of syncs that still succeed comes first. */
static int fails(void) {
  if (faults == NULL || faults->sync_errno == 0) return 0;
  if (__atomic_fetch_sub(&((struct faults *)faults)->fails_in, 1, __ATOMIC_SEQ_CST) > 0) return 0;
  faults->fails_in = 0;
  errno = faults->sync_errno;
  return 1;
}

static int opened(int fd, const char *name, int is_new) {
  if (fd < 0 || name == NULL || fd >= MAX_FDS) return fd;
  struct stat stat;
  if (fstat(fd, &stat) != 0) return fd;
  watched[fd] = stat.st_ino;
  note(is_new ? CREATE : OPEN, stat.st_ino, S_ISDIR(stat.st_mode), name, NULL, 0);
  return fd;
}

static int open_next(const char *path, int flags, mode_t mode, int *is_new) {
  NEXT(open64);
  *is_new = 0;
  if (!(flags & O_CREAT)) return next(path, flags);
  int fd = next(path, flags | O_EXCL, mode);
  if (fd >= 0) *is_new = 1;
  if (fd >= 0 || errno != EEXIST || (flags & O_EXCL)) return fd;
  return next(path, flags, mode);
}

static int open_any(const char *path, int flags, mode_t mode) {
  const char *name = name_of(path);
  int is_new = 0;
  if (name == NULL) {
    NEXT(open64);
    return next(path, flags, mode);
  }
  int fd = open_next(path, flags, mode, &is_new);
  fd = opened(fd, name, is_new);
  if (fd >= 0 && (flags & O_TRUNC) && !is_new) note(TRUNCATE, number_of(fd), 0, NULL, NULL, 0);
  return fd;
}

#define MODE(last) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, last); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return open_any(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags)
  return open_any(path, flags, mode);
}
int openat(int base, const char *path, int flags, ...) {
  MODE(flags)
  if (name_of(path)) return open_any(path, flags, mode);
  NEXT(openat);
  return next(base, path, flags, mode);
}
int openat64(int base, const char *path, int flags, ...) {
  MODE(flags)
  if (name_of(path)) return open_any(path, flags, mode);
  NEXT(openat64);
  return next(base, path, flags, mode);
}
int close(int fd) {
  NEXT(close);
  if (fd >= 0 && fd < MAX_FDS) watched[fd] = 0;
  return next(fd);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  NEXT(pwrite64);
  uint64_t file = number_of(fd);
  if (file == 0) return next(fd, data, size, offset);
  ssize_t written = next(fd, data, size, offset);
  if (written > 0) note(WRITE, file, offset, NULL, data, (size_t)written);
  return written;
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}
ssize_t write(int fd, const void *data, size_t size) {
  NEXT(write);
  uint64_t file = number_of(fd);
  if (file == 0) return next(fd, data, size);
  off64_t offset = lseek64(fd, 0, SEEK_CUR);
  ssize_t written = next(fd, data, size);
  if (written > 0) note(WRITE, file, offset, NULL, data, (size_t)written);
  return written;
}

/* What SQLite and Node do not do today; were that to change, the recording would have holes, so it says so. */
static void unsupported(int fd, const char *what) {
  if (number_of(fd)) note(UNSUPPORTED, number_of(fd), 0, what, NULL, 0);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  NEXT(writev);
  unsupported(fd, "writev");
  return next(fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  NEXT(pwritev);
  unsupported(fd, "pwritev");
  return next(fd, parts, count, offset);
}
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags) {
  NEXT(copy_file_range);
  unsupported(to, "copy_file_range");
  return next(from, from_offset, to, to_offset, size, flags);
}
int posix_fallocate(int fd, off_t offset, off_t size) {
  NEXT(posix_fallocate);
  unsupported(fd, "posix_fallocate");
  return next(fd, offset, size);
}
static void *map_any(void *(*next)(void *, size_t, int, int, int, off64_t), void *at, size_t size, int protection,
                     int flags, int fd, off64_t offset) {
  if ((flags & MAP_SHARED) && (protection & PROT_WRITE)) unsupported(fd, "mmap");
  return next(at, size, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) {
  NEXT(mmap64);
  return map_any(next, at, size, protection, flags, fd, offset);
}
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap64(at, size, protection, flags, fd, offset);
}

int ftruncate64(int fd, off64_t size) {
  NEXT(ftruncate64);
  uint64_t file = number_of(fd);
  int result = next(fd, size);
  if (file != 0 && result == 0) note(TRUNCATE, file, size, NULL, NULL, 0);
  return result;
}
int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}

static int sync_any(int (*next)(int), int fd) {
  static int64_t last;
  uint64_t file = number_of(fd);
  if (file == 0) return next(fd);
  int64_t token = __atomic_add_fetch(&last, 1, __ATOMIC_SEQ_CST) * 65536 + getpid() % 65536;
  note(SYNC_BEGIN, file, token, NULL, NULL, 0);
  if (fails()) {
    note(SYNC_FAILED, file, token, NULL, NULL, 0);
    return -1;
  }
  int result = next(fd);
  if (result == 0) note(SYNC_END, file, token, NULL, NULL, 0);
  return result;
}
int fsync(int fd) {
  NEXT(fsync);
  return sync_any(next, fd);
}
int fdatasync(int fd) {
  NEXT(fdatasync);
  return sync_any(next, fd);
}

int unlink(const char *path) {
  NEXT(unlink);
  const char *name = name_of(path);
  int result = next(path);
  if (name != NULL && result == 0) note(UNLINK, 0, 0, name, NULL, 0);
  return result;
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  const char *from_name = name_of(from), *to_name = name_of(to);
  int result = next(from, to);
  if (result != 0 || (from_name == NULL && to_name == NULL)) return result;
  if (from_name == NULL || to_name == NULL) note(UNSUPPORTED, 0, 0, "rename into or out of the folder", NULL, 0);
  else note(RENAME, 0, 0, from_name, to_name, strlen(to_name));
  return result;
}
int link(const char *from, const char *to) {
  NEXT(link);
  int result = next(from, to);
  if (result == 0 && name_of(to)) note(UNSUPPORTED, 0, 0, "link", NULL, 0);
  return result;
}
