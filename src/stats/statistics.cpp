// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/statistics.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "base/json.h"

namespace s80::model {

namespace {

using Labels = std::span<const std::string_view>;

struct DimInfo {
    const char* name;
    Labels labels;
};

constexpr StatInfo declared(const char* name, const char* unit, Reading reading, const char* description,
                            std::initializer_list<Dim> dims) {
    StatInfo info{name, unit, reading, description, static_cast<unsigned>(dims.size()), {}};
    std::copy(dims.begin(), dims.end(), info.dim.begin());
    return info;
}

// Has no destructor: the last snapshot is written while the process exits, when other static objects may be
// gone.
constexpr std::array kStatInfo = [] {
    using enum Dim;
    using enum Reading;
    return std::array{
#define STATISTIC(name, unit, reading, description, ...) \
    declared(#name, unit, reading, description, {__VA_ARGS__}),
#include "stats/vocabulary.def"
#undef STATISTIC
    };
}();

constexpr Labels kNoLabels;
constexpr std::array<DimInfo, kDims> kDimInfo{{
#define DIMENSION(enumerator, name, labels) {name, labels},
#include "stats/vocabulary.def"
#undef DIMENSION
}};

struct LabelText {
    Dim dim;
    std::string_view label;
    const char* text;
};

constexpr std::array kLabelTexts{
#define LABEL_TEXT(dim, label, text) LabelText{Dim::dim, label, text},
#include "stats/vocabulary.def"
#undef LABEL_TEXT
};
static_assert(std::all_of(kLabelTexts.begin(), kLabelTexts.end(), [](const LabelText& one) {
    const Labels labels = kDimInfo[static_cast<unsigned>(one.dim)].labels;
    return std::find(labels.begin(), labels.end(), one.label) != labels.end();
}));

const DimInfo& info(Dim dim) {
    return kDimInfo[static_cast<unsigned>(dim)];
}

}  // namespace

const StatInfo& info(Stat stat) {
    return kStatInfo[static_cast<unsigned>(stat)];
}

const char* dim_name(Dim dim) {
    return info(dim).name;
}

Dimensions::Dimensions(unsigned cores, bool home, bool groups) {
    std::transform(kDimInfo.begin(), kDimInfo.end(), size_.begin(),
                   [](const DimInfo& dim) { return dim.labels.size(); });
    size_[static_cast<unsigned>(Dim::core)] = cores;
    if (!groups) {
        size_[static_cast<unsigned>(Dim::source)] =
            static_cast<std::size_t>(home ? Source::group : Source::llc);
        size_[static_cast<unsigned>(Dim::service)] =
            static_cast<std::size_t>(home ? Service::group : Service::llc);
        size_[static_cast<unsigned>(Dim::group_event)] = 0;
    }
    if (!home) {
        size_[static_cast<unsigned>(Dim::recall_cause)] = 0;
        size_[static_cast<unsigned>(Dim::llc_event)] = 0;
    }
}

bool Dimensions::has(const StatInfo& stat) const {
    return std::ranges::all_of(stat.dims(), [&](Dim dim) { return dim == Dim::core || size(dim) != 0; });
}

Labels Dimensions::labels(Dim dim) const {
    return dim == Dim::core ? kNoLabels : info(dim).labels.first(size(dim));
}

std::string vocabulary(const Dimensions& dimensions, std::string_view between) {
    const auto declaration = [](const StatInfo& i) {
        return "{\"name\":" + quoted(i.name) + ",\"unit\":" + quoted(i.unit) +
               ",\"dims\":" + array(i.dims(), [](Dim dim) { return quoted(dim_name(dim)); }) +
               ",\"gauge\":" + (i.reading == Reading::gauge ? "true" : "false") +
               ",\"description\":" + quoted(i.description) + '}';
    };
    std::string dims;
    for (unsigned d = 0; d < kDims; ++d) {
        const auto dim = static_cast<Dim>(d);
        if (dim != Dim::core && dimensions.size(dim) != 0) {
            dims += (dims.empty() ? "" : std::string(between)) + quoted(dim_name(dim)) + ':' +
                    array(dimensions.labels(dim));
        }
    }
    std::vector<StatInfo> stats(kStatInfo.begin(), kStatInfo.end());
    std::erase_if(stats, [&](const StatInfo& i) { return !dimensions.has(i); });
    return "\"dims\":{" + dims + "},\"stats\":" + array(stats, declaration, between);
}

std::string label_texts(std::string_view between) {
    std::string texts;
    const LabelText* before = nullptr;
    for (const LabelText& one : kLabelTexts) {
        if (before == nullptr || before->dim != one.dim) {
            texts += before == nullptr ? "" : "}" + std::string(between);
            texts += quoted(dim_name(one.dim)) + ":{";
        } else {
            texts += ',';
        }
        texts += quoted(one.label) + ':' + quoted(one.text);
        before = &one;
    }
    return '{' + texts + "}}";
}

Statistics::Statistics(const Dimensions& dimensions) : dimensions_(dimensions) {
    std::size_t at = 0;
    for (unsigned s = 0; s < kStats; ++s) {
        offset_[s] = at;
        std::size_t n = 1;
        for (const Dim dim : kStatInfo[s].dims()) {
            n *= dimensions.size(dim);
        }
        at += n;
    }
    offset_[kStats] = at;
    all_.assign(at, 0);
}

std::uint64_t Statistics::sum(Stat stat) const {
    const auto v = values(stat);
    return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}

}  // namespace s80::model
