package bus

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// serverLog forwards the server's log entries and keeps the first fatal one: the server reports a failed start in no
// other way.
type serverLog struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal string
}

// Noticef logs the server's notices at debug level.
func (l *serverLog) Noticef(format string, args ...any) { l.note(slog.LevelDebug, format, args) }

// Debugf drops the server's debug entries.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef drops the server's trace: it contains content.
func (l *serverLog) Tracef(string, ...any) {}

// Warnf logs a warning at debug level. At the start the server warns that passwords are not hashed; ours are random,
// never stored, and known to this process anyway.
func (l *serverLog) Warnf(format string, args ...any) { l.note(slog.LevelDebug, format, args) }

// Errorf logs an error, such as a refused publish.
func (l *serverLog) Errorf(format string, args ...any) { l.note(slog.LevelWarn, format, args) }

// Fatalf records why the server cannot start.
func (l *serverLog) Fatalf(format string, args ...any) {
	l.mu.Lock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, args...)
	}
	l.mu.Unlock()
	l.note(slog.LevelError, format, args)
}

func (l *serverLog) failure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func (l *serverLog) note(level slog.Level, format string, args []any) {
	if !l.log.Enabled(context.Background(), level) {
		return
	}
	l.log.Log(context.Background(), level, "bus server", "note", fmt.Sprintf(format, args...))
}
