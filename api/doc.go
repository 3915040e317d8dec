// Package api defines the requests that Earshot accepts, with the types of each request and answer.
//
// Requests to a kernel go over the bus: [Operations] lists each operation, who may request it, and whether it may be
// repeated. A request is answered with `{"ok":…}` or `{"error":…}`, see [EncodeAnswer] and [DecodeAnswer]. A refusal is
// a [Fault]. Values above [InlineLimit] travel as blobs, see [Body]. Package rpc sends the requests.
//
// Requests to a server go over HTTP: [Routes] lists each address with its method, the right that it requires, its
// statuses and its refusals. A refusal is a [Failure]. Package internal/transport/web serves the routes, package client
// uses them, and docs/api.md is generated from them.
//
// What a third party sends and receives over the tool protocol itself is in package utp. The package is pure: it sends
// nothing and reads no clock.
package api
