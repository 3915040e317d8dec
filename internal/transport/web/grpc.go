package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/api"
)

// grpcRoutes serves AAEP over gRPC (TR-GRPC-01 to TR-GRPC-06), with the same tokens, rights and limits. What describes the server is for
// everybody who can reach it, as the manifest is.
func (s *Server) grpcRoutes(mux *http.ServeMux) {
	for path, serve := range map[string]handler{
		grpc.SubscribePath: s.call,
		grpc.GetManifestPath: func(w http.ResponseWriter, r *http.Request, _ visitor) error {
			grpc.ServeManifest(w, r, s.published)
			return nil
		},
		grpc.ReflectionPath:      reflection,
		grpc.AlphaReflectionPath: reflection,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if !grpc.Is(r) {
				s.fail(w, r, refuse(api.KindInvalid, "this address takes calls of gRPC only, and the request is none", "call it with gRPC, over HTTP/2"))
				return
			}
			if err := serve(w, r, visitor{}); err != nil {
				refusal := s.refusalOf(r, err)
				grpc.Fail(w, refusal.ending(), refusal.Message+"; "+refusal.Hint)
			}
		})
	}
}

func reflection(w http.ResponseWriter, r *http.Request, _ visitor) error {
	grpc.ServeReflection(w, r)
	return nil
}

// isCall reports whether a request is a call that goes on until one side ends it.
func isCall(r *http.Request) bool { return r.URL.Path == grpc.SubscribePath && grpc.Is(r) }

// call serves a subscription over gRPC. A cookie counts for nothing: it belongs to the page.
func (s *Server) call(w http.ResponseWriter, r *http.Request, _ visitor) error {
	if r.Header.Get("Authorization") == "" {
		return refuse(api.KindUnauthenticated, "the call has no token", "send the metadata authorization: Bearer and the token")
	}
	v, err := s.entitled(r, api.Listen)
	if err != nil {
		return err
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := grpc.Accept(w, r, grpc.Options{Limit: replyLimit})
	if err != nil {
		s.log.InfoContext(ctx, "no call of gRPC", "reason", err)
		return nil // it has gone, or the answer has begun
	}
	s.converse(ctx, conn, v, nil)
	return nil
}

// ending is the status of gRPC for a refusal.
func (r *Refusal) ending() grpc.Status {
	switch r.Kind {
	case api.KindUnauthenticated:
		return grpc.Unauthenticated
	case api.KindForbidden:
		return grpc.PermissionDenied
	case api.KindBusy:
		return grpc.ResourceExhausted
	case api.KindUnavailable:
		return grpc.Unavailable
	case api.KindInternal:
		return grpc.Internal
	default:
		return grpc.InvalidArgument
	}
}
