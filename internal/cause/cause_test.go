package cause_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/cause"
)

// failures are errors with what is said of them.
func failures() map[string]struct {
	err  error
	want string
} {
	path := func(op string, number syscall.Errno) error {
		return &fs.PathError{Op: op, Path: "/data/key", Err: number}
	}
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7411}, Err: err}
	}
	refused := dial(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	var number struct {
		N int `json:"n"`
	}
	_, parsed := strconv.Atoi("ten")
	_, large := strconv.Atoi(strings.Repeat("9", 40))
	_, duration := time.ParseDuration("soon")
	type row = struct {
		err  error
		want string
	}
	return map[string]row{
		"nothing":              {nil, ""},
		"our own":              {errors.New("the counter went back"), "the counter went back"},
		"a package's":          {fmt.Errorf("kernel: asking: %w", errors.New("rpc: too late")), "asking: rpc: too late"},
		"no file":              {path("open", syscall.ENOENT), "/data/key is not there"},
		"no right":             {path("open", syscall.EACCES), "this user may not use /data/key"},
		"no right to change":   {path("chmod", syscall.EPERM), "the system does not let this user change /data/key"},
		"no folder":            {path("mkdir", syscall.ENOTDIR), "a part of /data/key is not a folder"},
		"no room":              {path("write", syscall.ENOSPC), "no room is left for /data/key"},
		"read only":            {path("write", syscall.EROFS), "/data/key is on a disk that can only be read"},
		"another number":       {path("write", syscall.EMLINK), "/data/key: too many links"},
		"closed":               {&fs.PathError{Op: "read", Path: "/data/key", Err: fs.ErrClosed}, "/data/key: it was closed"},
		"renamed":              {&os.LinkError{Op: "rename", Old: "/a", New: "/b", Err: syscall.EXDEV}, "/b is on another disk"},
		"a call":               {os.NewSyscallError("flock", syscall.ENOSPC), "no room is left for it on the disk"},
		"a number":             {syscall.EACCES, "this user may not use it"},
		"wrapped":              {fmt.Errorf("writing /data/key: %w", path("open", syscall.EACCES)), "writing /data/key: this user may not use /data/key"},
		"two":                  {errors.Join(path("open", syscall.ENOENT), io.ErrUnexpectedEOF), "/data/key is not there; it ends too early"},
		"two that are one":     {fmt.Errorf("%w: %w", errors.New("the disk"), syscall.EIO), "the disk: the disk failed at it"},
		"a sentinel":           {fs.ErrNotExist, "it is not there"},
		"told to end":          {fmt.Errorf("terminal: %w", context.Canceled), "it was told to end"},
		"too late":             {fmt.Errorf("asking the kernel: %w", context.DeadlineExceeded), "asking the kernel: no answer came in time"},
		"end of file":          {fmt.Errorf("reading the backup: %w", io.EOF), "reading the backup: it ends too early"},
		"refused":              {refused, "nobody answers at 127.0.0.1:7411"},
		"refused by a request": {&url.Error{Op: "Get", URL: "http://127.0.0.1:7411/x", Err: refused}, "nobody answers at 127.0.0.1:7411"},
		"no way":               {dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "there is no way to 127.0.0.1:7411"},
		"broken":               {&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "the connection broke"},
		"taken": {
			&net.OpError{Op: "listen", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7411}, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)},
			"another program listens there, at 127.0.0.1:7411",
		},
		"no name":            {dial(&net.DNSError{Name: "db.example.org", Err: "no such host", IsNotFound: true}), "no address is known for the name db.example.org"},
		"no name for now":    {&net.DNSError{Name: "db.example.org", Err: "server misbehaving", IsTemporary: true}, "the address of db.example.org cannot be looked up at the moment"},
		"an address":         {&net.AddrError{Err: "missing port in address", Addr: "here"}, "here is not an address"},
		"a slow server":      {&url.Error{Op: "Get", URL: "http://h/", Err: context.DeadlineExceeded}, "no answer came in time"},
		"another name":       {&tls.CertificateVerificationError{Err: x509.HostnameError{Host: "h.example.org", Certificate: &x509.Certificate{}}}, "its certificate is not for h.example.org"},
		"an unknown signer":  {x509.UnknownAuthorityError{}, "its certificate is signed by nobody whom this machine trusts"},
		"an old certificate": {x509.CertificateInvalidError{Reason: x509.Expired}, "its certificate is not valid at this time"},
		"no JSON":            {json.Unmarshal([]byte(`{"n":`), &number), "it ends too early"},
		"bad JSON":           {json.Unmarshal([]byte(`{"n":x}`), &number), "it is not JSON from byte 6 on"},
		"a member twice":     {json.Unmarshal([]byte(`{"n":1,"n":2}`), &number), "it has the member /n twice"},
		"another kind":       {json.Unmarshal([]byte(`{"n":"1"}`), &number), "the value of /n is not of the kind that it should be"},
		"an unknown member":  {json.Unmarshal([]byte(`{"m":1}`), &number, json.RejectUnknownMembers(true)), "it has the member /m, which is not known"},
		"bad JSON, standard": {stdjson.Unmarshal([]byte(`{"n":x}`), &number), "it is not JSON from byte 6 on"},
		"kind, standard":     {stdjson.Unmarshal([]byte(`{"n":"1"}`), &number), "the value of n is not of the kind that it should be"},
		"no number":          {parsed, `"ten" is not a number`},
		"a large number":     {large, `"` + strings.Repeat("9", 40) + `" is too large or too small`},
		"no time":            {duration, `invalid duration "soon"`},
	}
}

// TestOf says each failure in words.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, row := range failures() {
		if got := cause.Of(row.err); got != row.want {
			t.Errorf("%s: %v is said as %q, want %q", name, row.err, got, row.want)
		}
	}
}

// TestRealFailures: the same with what the system really says.
func TestRealFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is told that it is not trusted
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := listener.Addr().String()
	_, taken := net.Listen("tcp", free)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	get := func(url string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	for name, row := range map[string]struct {
		err  error
		want string
	}{
		"a folder":     {os.WriteFile(dir, nil, 0o600), dir + " is a folder"},
		"there":        {os.Mkdir(file, 0o700), file + " is there already"},
		"below a file": {os.Mkdir(filepath.Join(file, "x"), 0o700), "a part of " + filepath.Join(file, "x") + " is not a folder"},
		"not empty":    {os.Remove(dir), "the folder " + dir + " is not empty"},
		"taken":        {taken, "another program listens there, at " + free},
		"nobody":       {get("http://" + free + "/"), "nobody answers at " + free},
		"unknown":      {get(server.URL), "its certificate is signed by nobody whom this machine trusts"},
		"plain":        {get(strings.Replace(plain.URL, "http:", "https:", 1)), "it answers in plain HTTP, and was asked in HTTPS"},
	} {
		if got := cause.Of(row.err); got != row.want {
			t.Errorf("%s: %v is said as %q, want %q", name, row.err, got, row.want)
		}
	}
}
