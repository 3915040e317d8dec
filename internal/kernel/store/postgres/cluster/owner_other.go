//go:build !linux

package cluster

import "syscall"

// owner is who runs the cluster: nil is the user we run as. PostgreSQL itself refuses root.
type owner struct{}

func ordinary() (*owner, error) { return nil, nil } //nolint:nilnil // nil is ourselves

func (*owner) chown(string) error { return nil }

func (*owner) attributes(bool) *syscall.SysProcAttr { return nil }
