// Package grpc has a producer of [serve] served over gRPC too (TR-GRPC-01 to TR-GRPC-07), at the same address as its other transports:
//
//	p, err := serve.New(serve.Options{…, Transports: []serve.Transport{grpc.Transport{}}})
//	server := &http.Server{Addr: "127.0.0.1:8080", Handler: p}
//	grpc.Configure(server)
//	err = server.ListenAndServe()
//
// No library of gRPC is linked, and a program that does not import this package links nothing of it.
package grpc

import (
	"net/http"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
)

// Transport is gRPC, for [serve.Options.Transports]. A call shows its token as the metadata authorization. Who shows none gets the status
// UNAUTHENTICATED, and one that may not hear PERMISSION_DENIED.
type Transport struct{}

var _ serve.Transport = Transport{}

// Name implements [serve.Transport].
func (Transport) Name() aaep.Transport { return aaep.TransportGRPC }

// Routes implements [serve.Transport]: a call of Subscribe, and what describes the service, which is for everybody.
func (Transport) Routes(p *serve.Producer) map[string]http.Handler {
	routes := map[string]http.Handler{}
	for path, serves := range map[string]http.HandlerFunc{
		grpc.SubscribePath:       func(w http.ResponseWriter, r *http.Request) { subscribe(p, w, r) },
		grpc.GetManifestPath:     func(w http.ResponseWriter, r *http.Request) { grpc.ServeManifest(w, r, p.Manifest()) },
		grpc.ReflectionPath:      grpc.ServeReflection,
		grpc.AlphaReflectionPath: grpc.ServeReflection,
	} {
		routes["POST "+path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !grpc.Is(r) {
				http.Error(w, "this address takes calls of gRPC only: call it with gRPC, over HTTP/2", http.StatusUnsupportedMediaType)
				return
			}
			serves(w, r)
		})
	}
	return routes
}

// subscribe serves a call of Subscribe until one of both ends it.
func subscribe(p *serve.Producer, w http.ResponseWriter, r *http.Request) {
	token := serve.BearerToken(r)
	switch {
	case p.Rights(token).Hears:
	case token == "":
		grpc.Fail(w, grpc.Unauthenticated, "the call has no token; send the metadata authorization: Bearer and the token")
		return
	default:
		grpc.Fail(w, grpc.PermissionDenied, "this token may not hear; send one that may")
		return
	}
	conn, err := grpc.Accept(w, r, grpc.Options{Limit: transport.MessageLimit})
	if err != nil {
		return // the subscriber has gone
	}
	p.ServeConn(r.Context(), conn, token)
}

// Configure sets a server to HTTP/2, also without TLS, beside HTTP/1.1, and has it find out about subscribers that have gone or read
// nothing. Call it before the server serves. Without TLS serve this machine only.
func Configure(server *http.Server) { grpc.Configure(server) }
