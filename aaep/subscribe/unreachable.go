package subscribe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/earshot-dev/earshot/aaep/transport/grpc"
)

// unreachable is the error of a connection that was not made, or broke before there was an answer.
func unreachable(host string, err error) error {
	why, hint := certificateTrouble(err)
	if why == "" {
		why, hint = wrongScheme(host, err)
	}
	if why == "" {
		why, hint = reason(err), "see that the producer runs, and that the address is right"
	}
	return &Error{Code: CodeUnreachable, Message: fmt.Sprintf("%s cannot be reached: %s", host, why), Hint: hint, Retry: true, Err: err}
}

// certificateTrouble is what is wrong with the producer's certificate, and what to do; "" if that is not the reason.
func certificateTrouble(err error) (why, hint string) {
	var wrongName x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "this machine does not trust the authority that has signed its certificate",
			"install that authority on this machine, or name a file with its certificate in SSL_CERT_FILE (on Linux)"
	case errors.As(err, &wrongName):
		return "its certificate is not for the name " + wrongName.Host, "use the name that the certificate is for"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet", "see the clock of this machine, and have the producer's operator renew the certificate"
	}
	return "", ""
}

// wrongScheme is what speaks for an address of the wrong kind: TLS where there is none, or none where there is TLS.
func wrongScheme(host string, err error) (why, hint string) {
	switch {
	case errors.Is(err, grpc.ErrTLS):
		return "it answers in TLS, and was called without it", "use the address grpcs://" + host
	case errors.Is(err, grpc.ErrSilent):
		return "it has closed the connection without an answer", "if it speaks TLS, use the address grpcs://" + host + "; else see that the producer runs"
	case errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS", "begin the address with http, ws or grpc, if it is meant to be without TLS"
	case errors.Is(err, io.EOF):
		return "it has closed the connection without an answer", "if it speaks TLS, begin the address with https, wss or grpcs; else see that the producer runs"
	}
	return "", ""
}
