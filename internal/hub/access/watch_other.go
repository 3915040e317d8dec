//go:build !linux

package access

// changes returns nil: on this platform the file is polled instead.
func changes(string) (told <-chan struct{}, stop func()) { return nil, func() {} }
