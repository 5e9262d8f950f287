/* Makes every fsync and fdatasync of a process take BENCH_FSYNC_MICROS longer. For LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_longer(void) {
  const char *text = getenv("BENCH_FSYNC_MICROS");
  long micros = text ? atol(text) : 0;
  struct timespec left = {micros / 1000000, (micros % 1000000) * 1000};
  while (nanosleep(&left, &left) != 0) {
  }
}

typedef int (*sync_function)(int);

int fsync(int fd) {
  static sync_function next;
  if (!next) next = (sync_function)dlsym(RTLD_NEXT, "fsync");
  int result = next(fd);
  wait_longer();
  return result;
}

int fdatasync(int fd) {
  static sync_function next;
  if (!next) next = (sync_function)dlsym(RTLD_NEXT, "fdatasync");
  int result = next(fd);
  wait_longer();
  return result;
}
