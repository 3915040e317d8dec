// Package tool is the SDK for a tool service. A service serves the tools of one
// target: it hears their commands, asks the kernel to start each, runs what was
// granted, keeps the lease alive, and finishes.
//
// A command is a bell and nothing more. The service runs nothing until the kernel has
// granted the start, and it works on the argument bytes that the grant handed out,
// never on anything that a message carried. A forged command therefore starts
// nothing. Right before its first effect a tool calls [Call.Ready], which checks the
// clock against the consent's last moment.
//
// [Service.Run] owns every goroutine that it starts, one for each running call and
// one for that call's heartbeat, and waits for all of them.
package tool
