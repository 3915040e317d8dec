package grpc

import (
	_ "embed" // the descriptor
	"net/http"
	"strings"
)

// The paths of reflection, by which tools such as grpcurl ask a server what it serves. Both versions are the same on the wire.
const (
	ReflectionPath      = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	AlphaReflectionPath = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// descriptor is aaep.proto as protoc compiles it: a FileDescriptorSet of one file.
//
//go:embed aaep.binpb
var descriptor []byte

// descriptorName is the name of the file in it.
const descriptorName = "aaep.proto"

// The fields of a ServerReflectionRequest and its answer, by their numbers.
const (
	askFile, askSymbol, askServices                      = 3, 4, 7
	sayHost, sayRequest, sayFiles, sayServices, sayError = 1, 2, 4, 6, 7
)

// ServeReflection answers questions about the service, until the client asks no more.
func ServeReflection(w http.ResponseWriter, r *http.Request) {
	if begin(w) != nil {
		return
	}
	flush := http.NewResponseController(w).Flush
	for {
		request, err := next(r.Body, maxRequest)
		if err != nil {
			break
		}
		if _, err := w.Write(frame(reflect(request))); err != nil || flush() != nil {
			return
		}
	}
	OK.set(w.Header(), http.TrailerPrefix, "")
}

// reflect answers one question.
func reflect(request []byte) []byte {
	kind, said := uint64(sayError), appendBytes(number(1, uint64(Unimplemented)), 2, []byte("only files, symbols and services are described"))
	missing := appendBytes(number(1, uint64(NotFound)), 2, []byte("it is not described here"))
	host := []byte(nil)
	err := fields(request, func(field uint64, value []byte) {
		switch field {
		case sayHost:
			host = value
		case askServices:
			kind, said = sayServices, appendBytes(nil, 1, appendBytes(nil, 1, []byte(Service)))
		case askFile, askSymbol:
			kind, said = sayError, missing
			if field == askFile && string(value) == descriptorName || field == askSymbol && strings.HasPrefix(string(value), "aaep.v1.") {
				_ = fields(descriptor, func(_ uint64, file []byte) { kind, said = sayFiles, appendBytes(nil, 1, file) }) // it is right: a test reads it
			}
		}
	})
	if err != nil {
		kind, said = sayError, appendBytes(number(1, uint64(InvalidArgument)), 2, []byte(err.Error()))
	}
	return appendBytes(appendBytes(appendBytes(nil, sayHost, host), sayRequest, request), kind, said)
}
