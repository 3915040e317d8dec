// Package grpc carries the messages of AAEP over gRPC, service aaep.v1.AaepService (TR-GRPC-01 to TR-GRPC-07): each message is one
// AaepMessage, whose field json has it. Any client or server takes [Proto], which aaep.proto is.
//
// It is gRPC as far as one service needs it, on HTTP/2 of net/http: a server of HTTP/2 serves it at [SubscribePath] beside everything else,
// with the same port, certificate and limits, and a program that dials needs no library of gRPC.
//
// A message that is larger than the limit or is not UTF-8 is refused with a [*transport.Error] that has the code for it, and the call ends
// with the status of gRPC that is nearest. No memory is allocated for the size that a frame claims, only for what has arrived, up to the limit.
package grpc
