package cause

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// ofNet translates an error of a connection.
func ofNet(err error) (words string, inner error) {
	if e, is := errors.AsType[*url.Error](err); is && e.Err != nil {
		if e.Timeout() {
			return late, e
		}
		return ofOne(e.Err), e
	}
	if e, is := errors.AsType[*net.OpError](err); is && e.Err != nil {
		return ofConnection(e), e
	}
	if e, is := errors.AsType[*net.DNSError](err); is {
		return ofName(e), e
	}
	if e, is := errors.AsType[*net.AddrError](err); is {
		return e.Addr + " is not an address", e
	}
	if e, is := errors.AsType[*net.ParseError](err); is {
		return e.Text + " is not an address", e
	}
	if errors.Is(err, net.ErrClosed) {
		return closed, net.ErrClosed
	}
	return "", nil
}

func ofName(e *net.DNSError) string {
	if e.IsTimeout || e.IsTemporary {
		return "the address of " + e.Name + " cannot be looked up at the moment"
	}
	return "no address is known for the name " + e.Name
}

// NoClientCertificate reports whether the other end has refused a connection for want of a client certificate that it accepts.
func NoClientCertificate(err error) bool {
	e, is := errors.AsType[*net.OpError](err)
	return is && ofAlert(e) != ""
}

// ofAlert translates what the other end says of the certificate that it was shown; "" if it says something else.
func ofAlert(e *net.OpError) string {
	if e.Op != "remote error" || e.Err == nil {
		return ""
	}
	alert := strings.TrimPrefix(e.Err.Error(), "tls: ")
	switch {
	case alert == "certificate required":
		return "it demands a client certificate, and none was shown"
	case strings.Contains(alert, "certificate"):
		return "it does not accept the client certificate that was shown: " + alert
	}
	return ""
}

func ofConnection(e *net.OpError) string {
	if words := ofAlert(e); words != "" {
		return words
	}
	if name, is := errors.AsType[*net.DNSError](e.Err); is {
		return ofName(name)
	}
	at := ""
	if e.Addr != nil {
		at = e.Addr.String()
	}
	number, _ := errors.AsType[syscall.Errno](e.Err)
	switch number {
	case syscall.ECONNREFUSED:
		return "nobody answers" + behind(" at ", at)
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return "the connection" + behind(" to ", at) + " broke"
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN:
		return "there is no way" + behind(" to ", at)
	case syscall.EADDRINUSE:
		return "another program listens there" + behind(", at ", at)
	case syscall.EADDRNOTAVAIL:
		return "this machine has no such address" + behind(": ", at)
	case syscall.EACCES, syscall.EPERM:
		return "this user may not use the address" + behind(" ", at)
	case syscall.ENOENT:
		return "nobody answers" + behind(" at ", at)
	default:
	}
	if e.Timeout() {
		return "no answer came in time" + behind(" from ", at)
	}
	if words, _ := ofCertificate(e.Err); words != "" {
		return words
	}
	return ofOne(e.Err)
}

func behind(word, at string) string {
	if at == "" {
		return ""
	}
	return word + at
}

// TLSHint is what to do where a connection fails for the other end's certificate, or because one end speaks TLS and the other does not;
// "" if that is not the reason.
func TLSHint(err error) string {
	invalid, _ := errors.AsType[x509.CertificateInvalidError](err)
	name, named := errors.AsType[x509.HostnameError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "install that authority on this machine, or name a file with its certificate in SSL_CERT_FILE (on Linux)"
	case named && name.Host != "":
		return "use the name that the certificate is for"
	case invalid.Cert != nil && invalid.Reason == x509.Expired:
		return "see the clock of this machine, and have the server's operator renew the certificate"
	case plain, strings.HasSuffix(err.Error(), "server gave HTTP response to HTTPS client"):
		return "begin the address with http, if it is meant to be without TLS"
	}
	return ""
}

// ofCertificate translates why the other end's certificate is not accepted.
func ofCertificate(err error) (words string, inner error) {
	if e, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		words, _ := ofCertificate(e.Err)
		if words == "" {
			words = "its certificate does not count here"
		}
		return words, e
	}
	if e, is := errors.AsType[x509.HostnameError](err); is {
		return "its certificate is not for " + e.Host, e
	}
	if e, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return "its certificate is signed by nobody whom this machine trusts", e
	}
	if e, is := errors.AsType[x509.CertificateInvalidError](err); is {
		if e.Reason == x509.Expired {
			return "its certificate is not valid at this time", e
		}
		return "its certificate does not count here", e
	}
	if e, is := errors.AsType[tls.RecordHeaderError](err); is {
		return "it does not answer in TLS", e
	}
	if e, is := errors.AsType[tls.AlertError](err); is {
		return "it ended the encrypted connection", e
	}
	if text := err.Error(); strings.HasSuffix(text, "server gave HTTP response to HTTPS client") {
		return "it answers in plain HTTP, and was asked in HTTPS", err
	}
	return "", nil
}
