// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/classes.h"

#include "base/toml.h"

namespace s80::plugin {

using model::ProcessClass;

namespace {

/// The process class with this label. Only three classes can be in the file: the plugin recognises idle tasks
/// and kernel threads without their names. `path`: the file, for messages.
ProcessClass class_of_label(std::string_view label, const std::string& path) {
    for (const ProcessClass process_class :
         {ProcessClass::session, ProcessClass::delivery, ProcessClass::loadgen}) {
        if (label == model::label(process_class)) {
            return process_class;
        }
    }
    throw model::Error(path + ": `" + std::string(label) +
                       "` is not a process class; allowed: session, delivery, loadgen");
}

}  // namespace

Classes Classes::load(const std::string& path) {
    constexpr std::size_t kLongest = 15;
    Classes classes;
    if (path.empty()) {
        return classes;
    }
    for (const auto& [label, names] : model::parse_toml(path)) {
        const ProcessClass process_class = class_of_label(label.str(), path);
        const toml::array* list = names.as_array();
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            const auto name = (*list)[i].value<std::string>();
            if (!name || name->size() > kLongest || !classes.by_name_.emplace(*name, process_class).second) {
                throw model::Error(path + ": " + std::string(label.str()) +
                                   " must contain names of at most 15 characters, each in one class only");
            }
        }
        if (list == nullptr) {
            throw model::Error(path + ": " + std::string(label.str()) + " must be a list of process names");
        }
    }
    return classes;
}

}  // namespace s80::plugin
