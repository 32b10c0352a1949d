-- SPDX-License-Identifier: GPL-2.0-or-later
-- The pages that s80-page makes (workloads/webstore/src/page.cpp), byte for byte, and no process is started for one.
local RECORD_BYTES = 128

-- As many bytes of a file from `at`, or "a" for all; nil where they are not there.
local function read(path, at, bytes)
    local file = io.open(path, "rb")
    if file == nil then return nil end
    file:seek("set", at)
    local text = file:read(bytes)
    file:close()
    return text
end

function handle(r)
    local directory, class, number, user = string.match(r.args or "", "^(%d+)%.([0-3])%.([1-9])%.(%d+)$")
    if directory == nil then return 404 end
    local store = r.subprocess_env["S80_WEBSTORE"] .. "/"
    local name = string.format("files/d%04d/c%d_%d", directory, class, number)
    local record = read(store .. "records", user * RECORD_BYTES, RECORD_BYTES)
    local content = read(store .. name, 0, "a")
    if record == nil or #record < RECORD_BYTES or content == nil then return 404 end
    local page = "<html><head><title>User " .. user .. "</title></head>\n<body><pre>\n" .. record .. content
        .. "\n</pre><p>" .. name .. "</p></body></html>\n"
    r.content_type = "text/html"
    r.headers_out["Content-Length"] = tostring(#page)
    r:write(page)
    return apache2.OK
end
