package grpc

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// Status is how a call of gRPC ends.
type Status int

// The statuses that are used here.
const (
	OK                 Status = 0
	InvalidArgument    Status = 3
	NotFound           Status = 5
	PermissionDenied   Status = 7
	ResourceExhausted  Status = 8
	FailedPrecondition Status = 9
	Unimplemented      Status = 12
	Internal           Status = 13
	Unavailable        Status = 14
	Unauthenticated    Status = 16
)

// statuses are those that stand for close codes.
var statuses = map[transport.Code]Status{
	transport.Clean: OK, transport.EndedBySubscriber: OK, transport.Normal: OK,
	transport.Rejected: FailedPrecondition, transport.NotAuthenticated: Unauthenticated,
	transport.NotAllowed: PermissionDenied, transport.PolicyViolation: PermissionDenied,
	transport.Violation: InvalidArgument, transport.ProtocolError: InvalidArgument, transport.NotText: InvalidArgument, transport.NotUTF8: InvalidArgument,
	transport.TooBig: ResourceExhausted, transport.InternalError: Internal,
	transport.GoingAway: Unavailable, transport.TryAgainLater: Unavailable,
}

// codes are the close codes that stand for the statuses of a producer. What is not here may pass.
var codes = map[Status]transport.Code{
	OK: transport.Clean, FailedPrecondition: transport.Rejected, Unauthenticated: transport.NotAuthenticated, PermissionDenied: transport.NotAllowed,
	InvalidArgument: transport.ProtocolError, Unimplemented: transport.NotAllowed, NotFound: transport.NotAllowed, Internal: transport.InternalError,
}

// The headers of gRPC.
const (
	contentType   = "application/grpc"
	headerStatus  = "Grpc-Status"
	headerMessage = "Grpc-Message"
)

// set writes a status into headers, each name behind a prefix.
func (s Status) set(h http.Header, prefix, message string) {
	h.Set(prefix+headerStatus, strconv.Itoa(int(s)))
	if message != "" {
		h.Set(prefix+headerMessage, strings.ReplaceAll(url.QueryEscape(message), "+", "%20"))
	}
}

// ended returns how the peer has ended a call, by its answer, whose body has been read.
func ended(answer *http.Response) *transport.Error {
	h := answer.Trailer
	if h.Get(headerStatus) == "" {
		h = answer.Header // where nothing was sent before
	}
	said := h.Get(headerMessage)
	if plain, err := url.PathUnescape(said); err == nil {
		said = plain
	}
	status, err := strconv.Atoi(h.Get(headerStatus))
	if err != nil {
		return &transport.Error{Code: transport.GoingAway, Reason: "the call has ended without a status", FromPeer: true, Err: err}
	}
	code, known := codes[Status(status)]
	if !known {
		code = transport.TryAgainLater
	}
	if status != int(OK) {
		said = strings.TrimSpace(fmt.Sprintf("(status %d of gRPC) %s", status, said))
	}
	return &transport.Error{Code: code, Reason: said, FromPeer: true}
}
