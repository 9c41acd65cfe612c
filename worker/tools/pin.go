//go:build pin

// What main.go compiles, so that go.mod keeps it.
package main

import (
	_ "github.com/u-root/u-root/cmds/core/base64"
	_ "github.com/u-root/u-root/cmds/core/cat"
	_ "github.com/u-root/u-root/cmds/core/cmp"
	_ "github.com/u-root/u-root/cmds/core/comm"
	_ "github.com/u-root/u-root/cmds/core/grep"
	_ "github.com/u-root/u-root/cmds/core/gzip"
	_ "github.com/u-root/u-root/cmds/core/head"
	_ "github.com/u-root/u-root/cmds/core/hexdump"
	_ "github.com/u-root/u-root/cmds/core/md5sum"
	_ "github.com/u-root/u-root/cmds/core/shasum"
	_ "github.com/u-root/u-root/cmds/core/sort"
	_ "github.com/u-root/u-root/cmds/core/strings"
	_ "github.com/u-root/u-root/cmds/core/tail"
	_ "github.com/u-root/u-root/cmds/core/tar"
	_ "github.com/u-root/u-root/cmds/core/touch"
	_ "github.com/u-root/u-root/cmds/core/tr"
	_ "github.com/u-root/u-root/cmds/core/truncate"
	_ "github.com/u-root/u-root/cmds/core/uniq"
	_ "github.com/u-root/u-root/cmds/core/wc"
)
