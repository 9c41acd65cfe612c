// git_refused is set when git tried to change a file. Its last message then says that git only reads here.
extern int git_refused;
