// Package idb makes transactions of IndexedDB, the browser's database. It opens the database
// for each transaction and closes it afterwards, so that an open connection of one tab never
// blocks another tab. It trusts the values in the database no more than any other input: the
// caller checks them.
package idb
