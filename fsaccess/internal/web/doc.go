// Package web has the sources of a browser: folders behind handles, uploaded and dropped
// files, and the database of remembered folders. Only the files that are written in place
// have a part without the browser, which is tested natively.
package web
