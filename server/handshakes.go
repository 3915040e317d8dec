package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
)

// settingsOf returns the settings of HTTPS; nil if there is none.
func settingsOf(certificate *address.Certificate, authorities *address.ClientCA) *tls.Config {
	if certificate == nil {
		return nil
	}
	settings := certificate.Settings()
	if authorities != nil {
		authorities.Demand(settings)
	}
	return settings
}

// noticeEvery is the shortest time between two notices of refused certificates: anybody who reaches the port can cause them.
const noticeEvery = 10 * time.Second

// handshakes takes the records of the HTTP server's log, and hands them on. It tells the operator who was refused for want of a certificate.
type handshakes struct {
	slog.Handler

	o  Options
	mu sync.Mutex
	at time.Time // of the last notice
}

// Enabled implements [slog.Handler].
func (*handshakes) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (h *handshakes) Handle(ctx context.Context, r slog.Record) error {
	rest, is := strings.CutPrefix(strings.TrimSpace(r.Message), "http: TLS handshake error from ")
	from, reason, _ := strings.Cut(rest, ": tls: ")
	if is && h.o.TLSClientCA != "" && strings.Contains(reason, "certificate") && !strings.HasSuffix(from, "remote error") && h.due() {
		h.o.Notice("Refused by HTTPS: " + cause.OneLine(from) + " has no certificate of --tls-client-ca: " + cause.OneLine(reason) + ".")
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // it is the handler
}

func (h *handshakes) due() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Now()
	if !h.at.IsZero() && now.Sub(h.at) < noticeEvery && !now.Before(h.at) {
		return false
	}
	h.at = now
	return true
}
