// Package api holds what may be asked of an Earshot kernel: each operation with its request and its answer,
// who may ask for it, and whether it may be asked for again ([Operations]). They travel as JSON over the
// bus; what a third party sends and gets over the tool protocol itself is in package utp.
//
// A request is answered with `{"ok":…}` or `{"error":…}`, see [EncodeAnswer] and [DecodeAnswer]. A
// refusal is a [Fault]. Values above [InlineLimit] travel as blobs, see [Body].
//
// The package is pure: it sends nothing and reads no clock. Package rpc asks.
package api
