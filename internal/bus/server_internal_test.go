package bus

import "testing"

// TestSignInTime: a process that a loaded machine does not let run for a while is not turned
// away, as anyone who has a wrong password is.
func TestSignInTime(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"", "127.0.0.1:0"} {
		settings, err := serverOptions(Options{Listen: listen}.withDefaults(), &plan{})
		if settings.WriteDeadline < stallTime {
			t.Errorf("%q: cut after %s", listen, settings.WriteDeadline)
		}
		if err != nil || settings.AuthTimeout < defaultTimeout.Seconds() {
			t.Errorf("%q: %v s to sign in, %v; a client waits for %s", listen, settings.AuthTimeout, err, defaultTimeout)
		}
	}
}
