// Package core has what all sources and layers of package fsaccess share: the interface of
// a folder below a [Core], every optional interface, locks, staged files, copies, names and
// versions. Package fsaccess makes its Folder from a Core.
//
// Types that users see, such as File and Error, exist twice: here, and in package fsaccess
// with their documentation, because a layer cannot import that package. They have the same
// fields or methods, so a conversion copies no data.
package core
