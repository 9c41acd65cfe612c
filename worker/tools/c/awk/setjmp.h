// awk calls longjmp only for its statement exit, and this program has no way back up its stack.
// leave runs the END actions, unless they are running, and ends the program.
#pragma once
extern int awk_stage; // 1 in BEGIN and the records, 2 in END
_Noreturn void awk_leave(void);
typedef int jmp_buf[1];
#define setjmp(env) (awk_stage++, 0)
#define longjmp(env, value) awk_leave()
