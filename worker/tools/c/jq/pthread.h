// One thread is all that a WASI program has.
#pragma once
typedef unsigned pthread_key_t;
typedef int pthread_once_t;
typedef int pthread_mutex_t;
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER 0
int pthread_key_create(pthread_key_t *key, void (*destroy)(void *));
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);
static inline int pthread_once(pthread_once_t *once, void (*f)(void))
{
	if (!*once) {
		*once = 1;
		f();
	}
	return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *m) { return 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *m) { return 0; }
static inline int pthread_mutex_init(pthread_mutex_t *m, void *attr) { return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *m) { return 0; }
