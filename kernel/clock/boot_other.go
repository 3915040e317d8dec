//go:build !linux

package clock

import "time"

func bootID() string { return "" }

func sinceBoot() time.Duration { return 0 }
