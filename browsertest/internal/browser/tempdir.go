package browser

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Dir is a temporary folder for a browser's files. On Unix, if this process is killed, the folder
// is removed, and the processes that use it are killed.
type Dir struct {
	Path string

	watch *exec.Cmd
	line  io.WriteCloser
	once  sync.Once
	err   error
}

// watchScript runs at the other end of a pipe. After the line "done" it exits. If the pipe ends
// without that line, this process is gone, and the script cleans up. It reads the folder's name
// from the pipe, so it is not itself among the processes with the name in their command line or
// environment.
const watchScript = `read -r dir; read -r done; [ "$done" = done ] && exit 0
for i in 1 2 3 4 5 6 7 8 9 10; do
  pids=$(grep -lF -- "$dir" /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | sort -u)
  [ -z "$pids" ] && break
  kill -9 $pids 2>/dev/null
  sleep 0.1
done
rm -rf -- "$dir"`

// maxTemp is the maximum length of the path of the system's temporary folder. Browsers put sockets
// below it, whose paths end at 108 bytes.
const maxTemp = 40

// TempDir makes a folder for a browser's files. The caller closes it.
func TempDir() (*Dir, error) {
	base := os.TempDir()
	if runtime.GOOS != "windows" && len(base) > maxTemp {
		base = "/tmp"
	}
	p, err := os.MkdirTemp(base, "browsertest-")
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: p}
	if sh, err := exec.LookPath("sh"); err == nil {
		c := exec.Command(sh, "-c", watchScript)
		detach(c)
		if line, err := c.StdinPipe(); err == nil && c.Start() == nil {
			d.watch, d.line = c, line
			io.WriteString(line, p+"\n")
		}
	}
	return d, nil
}

// Close removes the folder. It tries for 2 s, because a browser's last process may still be
// writing.
func (d *Dir) Close() error {
	d.once.Do(func() {
		for range 100 {
			if d.err = os.RemoveAll(d.Path); d.err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if d.watch != nil {
			io.WriteString(d.line, "done\n")
			d.line.Close()
			d.watch.Wait()
		}
	})
	return d.err
}
