// Package tool is the SDK for a tool service. A service serves the tools of one target: it receives their commands,
// asks the kernel to start each call, runs what was granted, renews the lease, and reports the result.
//
// A command is only a wakeup. The service runs nothing until the kernel has granted the start, and it works on the
// argument bytes in the grant, never on anything that a message carried. A forged command therefore starts nothing.
// Right before its first effect a tool calls [Call.Ready], which checks that the consent has not expired.
//
// [Service.Run] owns every goroutine that it starts, one for each running call and one for that call's heartbeat, and
// waits for all of them.
package tool
