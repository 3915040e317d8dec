// Package forward carries the events of any AAEP producer to a server of Earshot, and the answers of people back to the producer.
// The server judges the events and tells them (package producer, behind POST /aaep/v1/ingest); nothing is decided here.
//
// What comes is passed on in its order, and nothing is skipped: while the server is away, the producer waits. An answer goes to the producer once,
// and a [Cursor] says where to go on after a restart and which questions still wait for an answer.
package forward
