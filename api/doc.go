// Package api holds what may be asked of Earshot, with the types of each request and answer.
//
// Of a kernel, over the bus: [Operations] has each operation, who may ask for it, and whether it may be asked for
// again. A request is answered with `{"ok":…}` or `{"error":…}`, see [EncodeAnswer] and [DecodeAnswer]. A refusal is a
// [Fault]. Values above [InlineLimit] travel as blobs, see [Body]. Package rpc asks.
//
// Of a server, over HTTP: [Routes] has each address with its method, the right that it takes, its statuses and its
// refusals. A refusal is a [Failure]. Package internal/transport/web serves the rows, package client asks, and docs/api.md is
// generated from them.
//
// What a third party sends and gets over the tool protocol itself is in package utp. The package is pure: it sends
// nothing and reads no clock.
package api
